import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import type { Device, MachineFacts, ModelFiles, TensorModel } from "../../contract/backend.ts";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import { writeSafetensors } from "../../formats/safetensors/write-safetensors.ts";
import { native } from "./index.ts";

interface Case {
  readonly text: string;
  readonly ids: readonly number[];
  readonly mean: readonly number[];
  readonly normalized: readonly number[];
}
type Golden = { readonly name: string; readonly cases: readonly Case[] } & (
  | { readonly file: string }
  | { readonly folder: string }
);

/** Computed by model2vec itself: scripts/goldens/transformers/static-goldens.py. */
const goldens = JSON.parse(await readFile(new URL("static-goldens.json", import.meta.url), "utf8")) as {
  models: readonly Golden[];
};
const shared = new URL("../../../../shared/data/static-embeddings/", import.meta.url).pathname;
const cpu: Device = { type: "cpu", index: 0 };
const machine = {} as MachineFacts;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-native-"));
});
afterAll(() => rm(folder, { recursive: true }));

const files = (path: string): ModelFiles => ({ format: "safetensors", path, bytes: 0, architecture: "StaticModel", config: {} });
const load = (path: string, signal?: AbortSignal): Promise<TensorModel> =>
  native().load(files(path), cpu, signal === undefined ? {} : { signal });

let count = 0;
async function fileOf(tensors: Record<string, Tensor>, metadata: Record<string, string> = {}): Promise<string> {
  const path = join(folder, `model-${count++}.safetensors`);
  await writeSafetensors(path, tensors, metadata);
  return path;
}

const floats = (shape: number[], ...values: number[]): Tensor => ({
  dataType: "float32",
  shape,
  data: Float32Array.from(values),
});
const integers = (...values: number[]): Tensor => ({ dataType: "int32", shape: [values.length], data: Int32Array.from(values) });

/** Texts of different lengths as one padded batch; padding has an id no model knows, which must not matter. */
function batchOf(texts: readonly (readonly (number | bigint)[])[]): TensorMap {
  const width = Math.max(...texts.map((ids) => ids.length));
  const shape = [texts.length, width];
  const ids = texts.flatMap((text) => Array.from({ length: width }, (_, i) => BigInt(text[i] ?? 1e9)));
  const mask = texts.flatMap((text) => Array.from({ length: width }, (_, i) => (i < text.length ? 1n : 0n)));
  return {
    input_ids: { dataType: "int64", shape, data: BigInt64Array.from(ids) },
    attention_mask: { dataType: "int64", shape, data: BigInt64Array.from(mask) },
  };
}

async function embed(model: TensorModel, texts: readonly (readonly (number | bigint)[])[]): Promise<number[][]> {
  const { sentence_embedding: result } = await model.run(batchOf(texts));
  const [batch = 0, dimensions = 0] = result?.shape ?? [];
  const data = Array.from(result?.data as Float32Array);
  return Array.from({ length: batch }, (_, row) => data.slice(row * dimensions, (row + 1) * dimensions));
}

const codeOf = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => "no error",
    (error: unknown) => (error instanceof InferyardError ? error.code : error),
  );

const small = (): Promise<string> => fileOf({ embeddings: floats([2, 2], 1, 2, 3, 4) });

/** NaN where the lengths differ, which no comparison passes. */
function largestDifference(a: readonly number[], b: readonly number[]): number {
  return a.length === b.length ? Math.max(...a.map((value, index) => Math.abs(value - (b[index] ?? NaN)))) : NaN;
}

describe("agrees with model2vec", () => {
  for (const golden of goldens.models) {
    const skip = "folder" in golden && !existsSync(join(shared, golden.folder));
    it.skipIf(skip)(`${golden.name}${skip ? " (shared data is not here)" : ""}`, async () => {
      const path = "folder" in golden ? join(shared, golden.folder, "model.safetensors") : join(folder, "golden.safetensors");
      if ("file" in golden) await writeFile(path, Buffer.from(golden.file, "base64"));
      const model = await load(path);
      const means = await embed(
        model,
        golden.cases.map(({ ids }) => ids),
      );
      // The texts whose vector is off, so that a failure names them.
      const wrong = golden.cases.filter(({ mean, normalized }, index) => {
        const vector = means[index] ?? [];
        const length = Math.hypot(...vector) || 1;
        // float32 sums of up to 512 rows, in the order numpy chose: relative to the largest component.
        const scale = Math.max(1, ...mean.map(Math.abs));
        const unit = vector.map((value) => value / length);
        return !(largestDifference(vector, mean) / scale < 1e-5 && largestDifference(unit, normalized) < 1e-5);
      });
      expect(wrong).toEqual([]);
    });
  }
});

describe("int4 rows", () => {
  // Two rows of four values; the low four bits come first, and 8 stands for zero: [-8, -1, 0, 7] and [1, 2, 3, -4].
  const embeddings: Tensor = { dataType: "uint8", shape: [2, 2], data: Uint8Array.of(0x70, 0xf8, 0xa9, 0x4b) };
  /** The scales 0.5 and 0.25 in float16. */
  const weights: Tensor = { dataType: "float16", shape: [2], data: Uint16Array.of(0x3800, 0x3400) };

  it("are unpacked and scaled", async () => {
    const model = await load(await fileOf({ "embeddings.int4": embeddings, weights }, { bits: "4" }));
    expect(await embed(model, [[0], [1], [0, 1]])).toEqual([
      [-4, -0.5, 0, 3.5],
      [0.25, 0.5, 0.75, -1],
      [-1.875, 0, 0.375, 1.25],
    ]);
    expect(await model.evidence()).toEqual(["native kernel: static embeddings, 2 x 4 int4"]);
    expect(model.memory).toEqual({ bytes: 4 + 2 * 4, measure: "allocated" });
  });

  it("are refused without the mark and without scales", async () => {
    expect(await codeOf(load(await fileOf({ "embeddings.int4": embeddings, weights })))).toBe("MODEL_UNSUPPORTED");
    expect(await codeOf(load(await fileOf({ "embeddings.int4": embeddings }, { bits: "4" })))).toBe("MODEL_INVALID");
  });
});

describe("files it refuses", () => {
  const embeddings = floats([2, 2], 1, 2, 3, 4);
  const refused: [what: string, code: string, tensors: Record<string, Tensor>][] = [
    ["no embeddings", "MODEL_UNSUPPORTED", { "bert.embeddings": embeddings }],
    ["a vector", "MODEL_INVALID", { embeddings: floats([4], 1, 2, 3, 4) }],
    ["no rows", "MODEL_INVALID", { embeddings: floats([0, 4]) }],
    ["a type nobody writes", "MODEL_UNSUPPORTED", { embeddings: { dataType: "int32", shape: [1, 1], data: Int32Array.of(1) } }],
    ["NaN", "MODEL_INVALID", { embeddings: floats([2, 2], 1, 2, NaN, 4) }],
    ["a float16 infinity", "MODEL_INVALID", { embeddings: { dataType: "float16", shape: [1, 1], data: Uint16Array.of(0x7c00) } }],
    ["a weight that is NaN", "MODEL_INVALID", { embeddings, weights: floats([2], 1, NaN) }],
    ["a weight too few", "MODEL_INVALID", { embeddings, weights: floats([1], 1) }],
    ["weights that are a matrix", "MODEL_INVALID", { embeddings, weights: floats([1, 2], 1, 1) }],
    ["a mapping to a row that is not there", "MODEL_INVALID", { embeddings, mapping: integers(0, 2) }],
    ["a mapping to a negative row", "MODEL_INVALID", { embeddings, mapping: integers(-1) }],
    ["a mapping of fractions", "MODEL_UNSUPPORTED", { embeddings, mapping: floats([1], 0.5) }],
  ];
  it.each(refused)("%s: %s", async (_what, code, tensors) => {
    expect(await codeOf(load(await fileOf(tensors)))).toBe(code);
  });

  it("a truncated file, no file, another format, another device", async () => {
    const path = await fileOf({ embeddings });
    await truncate(path, 90);
    expect(await codeOf(load(path))).toBe("MODEL_INVALID");
    expect(await codeOf(load(join(folder, "none")))).toBe("MODEL_NOT_FOUND");
    expect(await codeOf(native().load({ ...files(path), format: "gguf" }, cpu, {}))).toBe("MODEL_UNSUPPORTED");
    expect(await codeOf(native().load({ ...files(path), format: "onnx" }, cpu, {}))).toBe("MODEL_INVALID");
    expect(await codeOf(native().load({ ...files(join(folder, "none.onnx")), format: "onnx" }, cpu, {}))).toBe("MODEL_NOT_FOUND");
    expect(await codeOf(native().load(files(path), { type: "cuda", index: 0 }, {}))).toBe("BACKEND_UNAVAILABLE");
    expect(await codeOf(load(path, AbortSignal.abort()))).toBe("ABORTED");
  });
});

describe("a loaded model", () => {
  it("reads the sentence-transformers name, weights and mapping", async () => {
    const weights = floats([3], 1, 10, 0.5);
    const path = await fileOf({ "embedding.weight": floats([2, 2], 1, 2, 3, 4), weights, mapping: integers(1, 0, 1) });
    // Tokens 0, 1, 2 have the vectors [3, 4], [10, 20] and [1.5, 2]; the mean divides by their number, not by the weights' sum.
    expect(await embed(await load(path), [[0, 1], [2]])).toEqual([
      [6.5, 12],
      [1.5, 2],
    ]);
  });

  it("gives zeros for a text without tokens, and nothing for no texts", async () => {
    const model = await load(await small());
    expect(await embed(model, [[1], []])).toEqual([
      [3, 4],
      [0, 0],
    ]);
    const none: Tensor = { dataType: "int64", shape: [0, 3], data: new BigInt64Array(0) };
    expect((await model.run({ input_ids: none, attention_mask: none }))["sentence_embedding"]?.shape).toEqual([0, 2]);
  });

  it.each([2n, -1n, 2n ** 32n])("names the token id %s that it does not know", async (id) => {
    const model = await load(await small());
    const running = embed(model, [[0], [1, id]]);
    await expect(running).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(`[1, 1] is ${id}`) as string,
    });
  });

  it("refuses a mask of other values, unknown outputs and missing inputs", async () => {
    const model = await load(await small());
    const inputs = batchOf([[0]]);
    const mask: Tensor = { dataType: "int64", shape: [1, 1], data: BigInt64Array.of(2n) };
    expect(await codeOf(model.run({ ...inputs, attention_mask: mask }))).toBe("INPUT_INVALID");
    expect(await codeOf(model.run(inputs, { outputs: ["last_hidden_state"] }))).toBe("INPUT_INVALID");
    expect(await codeOf(model.run({ input_ids: mask }))).toBe("INPUT_INVALID");
    expect(await model.run(inputs, { outputs: [] })).toEqual({});
  });

  it("leaves the event loop free, can be stopped, and waits for running calls when disposed", async () => {
    const model = await load(
      await fileOf({ embeddings: { dataType: "int8", shape: [2, 512], data: new Int8Array(1024).fill(1) } }),
    );
    // 64 texts of 512 tokens of 512 values: 16 million additions.
    const large = batchOf(Array.from({ length: 64 }, () => Array.from({ length: 512 }, (_, i) => i % 2)));
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const running = model.run(large);
    const controller = new AbortController();
    const stopped = codeOf(model.run(large, { signal: controller.signal }));
    setTimeout(() => controller.abort(), 1);
    expect(await stopped).toBe("ABORTED");
    const disposed = model.dispose().then(() => "disposed");
    expect(await Promise.race([running.then(() => "ran"), disposed])).toBe("ran");
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
    expect((await running)["sentence_embedding"]?.data.every((value) => value === 1)).toBe(true);
    await disposed;
    await model.dispose();
    expect(await codeOf(model.run(large))).toBe("DISPOSED");
    expect(await codeOf(model.run(large, { signal: AbortSignal.abort() }))).toBe("DISPOSED");
  });
});

describe("the backend", () => {
  it("is always there, and its self-test runs every storage", async () => {
    const availability = await native().probe({ machine, run: true });
    expect(availability).toMatchObject({
      present: true,
      library: { name: "inferyard" },
      devices: [{ device: cpu, state: "available" }],
    });
    expect(JSON.stringify(availability)).toContain("fp32, fp16, int8, int4");
    const cuda: Device = { type: "cuda", index: 0 };
    expect(await native().probe({ machine, run: true, device: cuda })).toMatchObject({ present: true, devices: [] });
    expect(native().capabilities(cuda).models).toEqual([]);
  });

  it("can be made again by a worker from its entry", async () => {
    const { entry } = native();
    const module = (await import(entry?.module ?? "")) as Record<string, typeof native>;
    expect(module[entry?.export ?? ""]?.().name).toBe("native");
  });
});
