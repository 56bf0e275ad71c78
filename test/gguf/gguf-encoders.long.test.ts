/** Encoders from GGUF files on llamacpp, held to what native computes from the same files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelFiles, TensorMap, TensorModel } from "inferyard/backend";
import { llamacpp } from "inferyard/backends/llamacpp";
import { native } from "inferyard/backends/native";
import { createRuntime, type Runtime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readManifest } from "../../src/models/index.ts";
import { quantizeGguf } from "../../src/models/gguf/quantize.ts";
import { backendCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";
import { bertToGguf } from "./fixtures/bert-to-gguf.ts";
import { type EncoderGguf, encoderGguf, nomicVector } from "./fixtures/encoder-gguf.ts";
import { rewriteGguf } from "../fixtures/models/rewrite-gguf.ts";
import { miniLmGoldens, needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

const cpu = { type: "cpu", index: 0 };
const folder = mkdtempSync(join(tmpdir(), "inferyard-gguf-encoders-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes an encoder and returns its path. */
function written(name: string, options: EncoderGguf): string {
  const path = join(folder, `${name}.gguf`);
  writeFileSync(path, encoderGguf(options));
  return path;
}

async function filesOf(path: string): Promise<ModelFiles> {
  const { variants } = await readManifest(path);
  const [variant] = variants;
  if (variant === undefined) throw new Error("no variant");
  return variant;
}

const backend = llamacpp();
afterAll(() => backend.dispose?.());

async function load(path: string): Promise<TensorModel> {
  return await backend.load(await filesOf(path), cpu, { threads: 1 });
}

function batch(rows: readonly (readonly number[])[], length = Math.max(...rows.map((row) => row.length))): TensorMap {
  const at = (value: (row: readonly number[], position: number) => number): BigInt64Array =>
    BigInt64Array.from(rows.flatMap((row) => Array.from({ length }, (_, position) => BigInt(value(row, position)))));
  const shape = [rows.length, length];
  return {
    input_ids: { dataType: "int64", shape, data: at((row, position) => row[position] ?? 0) },
    attention_mask: { dataType: "int64", shape, data: at((row, position) => (position < row.length ? 1 : 0)) },
  };
}

function rowsOf(tensor: TensorMap[string] | undefined): number[][] {
  const { data, shape } = tensor ?? { data: [], shape: [] };
  const [rows = 0, size = 0] = shape;
  return Array.from({ length: rows }, (_, row) => Array.from(data as Float32Array).slice(row * size, (row + 1) * size));
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>): number =>
    Array.from(x).reduce((sum, value, index) => sum + value * (y[index] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

const texts = ["the cat sat on the mat", "stars are far away", "a", "where is the dog the dog runs fast the cat is on the mat"];
const short = [2, 5, 6, 7, 3];
const long = [2, 5, 6, 7, 8, 5, 9, 10, 11, 12, 3];

describe("the backend contract", () => {
  const path = written("contract", { architecture: "bert", pooling: "mean" });
  const model: ModelFiles = { format: "gguf", path, bytes: 1, architecture: "BertModel", config: {} };
  const damaged = join(folder, "damaged.gguf");
  writeFileSync(damaged, encoderGguf({ architecture: "bert", pooling: "mean" }).subarray(0, 4000));
  const expected = new Float32Array(64);
  beforeAll(async () => {
    const own = await native().load(await filesOf(path), cpu, { threads: 1 });
    const types = { dataType: "int64", shape: [1, short.length], data: new BigInt64Array(short.length) } as const;
    const { last_hidden_state: hidden } = await own.run({ ...batch([short]), token_type_ids: types });
    const values = hidden?.data as Float32Array;
    for (const [index, value] of values.entries()) expected[index % 64] = (expected[index % 64] ?? 0) + value / short.length;
    await own.dispose();
  });
  const subject = {
    create: llamacpp,
    device: cpu,
    model,
    inputs: batch([short]),
    otherInputs: batch([long]),
    expected: { sentence_embedding: { dataType: "float32", shape: [1, 64], data: expected } } as const,
    tolerance: 2e-3,
    damaged: { ...model, path: damaged },
  };
  for (const { name, run } of backendCasesOnOneModel(subject)) it(name, async () => expect(await run()).toBeUndefined());
});

describe("one encoder", () => {
  let model: TensorModel;
  beforeAll(async () => void (model = await load(written("one", { architecture: "bert", pooling: "mean" }))));
  afterAll(() => model.dispose());

  it("has one pooled output", () => {
    expect(model.inputs.map(({ name }) => name)).toEqual(["input_ids", "attention_mask"]);
    expect(model.outputs).toEqual([{ name: "sentence_embedding", dataType: "float32", shape: ["batch", 64] }]);
  });

  it("padding and the other rows of a batch change nothing", async () => {
    const [alone] = rowsOf((await model.run(batch([short])))["sentence_embedding"]);
    const padded = rowsOf((await model.run(batch([long, short, short], 40)))["sentence_embedding"]);
    expect(padded[1]).toEqual(alone);
    expect(padded[2]).toEqual(alone);
    expect(padded[0]).not.toEqual(alone);
  });

  it("reads texts as long as its positions, and refuses longer ones", async () => {
    const row = (length: number): number[] => Array.from({ length }, (_, index) => 5 + (index % 20));
    expect(rowsOf((await model.run(batch([row(64)])))["sentence_embedding"])).toHaveLength(1);
    await expect(model.run(batch([row(65)]))).rejects.toMatchObject({ code: "INPUT_TOO_LONG" });
  });

  it("refuses masks with holes, rows without tokens, ids outside the vocabulary, and outputs it does not have", async () => {
    const whole = batch([short]);
    const mask = (...values: number[]): TensorMap => ({
      ...whole,
      attention_mask: { dataType: "int64", shape: [1, 5], data: BigInt64Array.from(values, BigInt) },
    });
    await expect(model.run(mask(1, 0, 1, 1, 1))).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: /attention_mask of row 0/,
    });
    await expect(model.run(mask(0, 0, 0, 0, 0))).rejects.toMatchObject({ code: "INPUT_INVALID", message: /no token/ });
    await expect(model.run(batch([[2, 9999, 3]]))).rejects.toMatchObject({ code: "INPUT_INVALID", message: /9999 at 1/ });
    await expect(model.run(whole, { outputs: ["last_hidden_state"] })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

const [skip, title] = needsData("embedding through the runtime");
describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  beforeAll(async () => void (runtime = await createRuntime({ threads: 1, host: "inline" })));
  afterAll(() => runtime.dispose());

  /** The smallest cosine between the vectors of both engines. */
  async function agreement(model: string): Promise<number> {
    const [ours, theirs] = await Promise.all(
      ["native", "llamacpp"].map(async (target) => {
        const { embeddings, target: used, tokens } = await runtime.embed(texts, { model, target });
        expect(used).toBe(`${target}:cpu`);
        return { vectors: embeddings, tokens };
      }),
    );
    expect(theirs?.tokens).toEqual(ours?.tokens);
    for (const vector of theirs?.vectors ?? []) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    return Math.min(...(ours?.vectors ?? []).map((vector, index) => cosine(vector, theirs?.vectors[index] ?? [])));
  }

  it.each([
    ["mean", "F32"],
    ["cls", "F16"],
    ...(runsAll
      ? ([
          ["cls", "F32"],
          ["mean", "F16"],
        ] as const)
      : []),
  ] as const)("bert with pooling %s in %s has the vectors of native", async (pooling, type) => {
    expect(await agreement(written(`bert-${pooling}-${type}`, { architecture: "bert", pooling, type }))).toBeGreaterThan(0.9999);
  });

  it("token types are those of single texts", async () => {
    const path = written("types", { architecture: "bert", pooling: "mean", tokenTypes: 2 });
    expect(await agreement(path)).toBeGreaterThan(0.9999);
  });

  it.each([...(runsAll ? (["q8_0"] as const) : []), "q4_0"] as const)("bert in %s agrees", async (to) => {
    const out = join(folder, `bert-${to}.gguf`);
    await quantizeGguf(written("plain", { architecture: "bert", pooling: "mean" }), "plain.gguf", { to, output: out });
    expect(await agreement(out)).toBeGreaterThan(0.999);
  });

  it.each([
    ["last", 3],
    ["mean", 1],
  ] as const)("a decoder that states the pooling %s has the vectors of native", async (_, number) => {
    const path = join(folder, `decoder-${number}.gguf`);
    await rewriteGguf(`${sharedData}gguf-tiny-llama/tiny-llama-f32.gguf`, path, {
      "llama.pooling_type": { type: "uint32", value: number },
      "tokenizer.ggml.add_eos_token": { type: "bool", value: true },
    });
    expect(await agreement(path)).toBeGreaterThan(0.9999);
  });

  it("all-MiniLM-L6-v2 as GGUF has the vectors of sentence-transformers", async () => {
    const path = join(folder, "minilm.gguf");
    writeFileSync(path, bertToGguf(`${sharedData}all-MiniLM-L6-v2`, "mean"));
    // The file states 512 positions; sentence-transformers cuts at 256 tokens.
    const goldens = miniLmGoldens().filter(({ inputIds }, index) => inputIds.length < 256 && (runsAll || index % 8 === 0));
    const options = { model: path, target: "llamacpp" };
    const { embeddings, tokens } = await runtime.embed(
      goldens.map((each) => each.text),
      options,
    );
    expect(tokens).toEqual(goldens.map(({ inputIds }) => inputIds.length));
    expect(goldens.length).toBeGreaterThan(runsAll ? 30 : 3);
    for (const [index, vector] of embeddings.entries())
      expect(cosine(vector, goldens[index]?.normalized ?? [])).toBeGreaterThan(0.99999);
  });

  it("a model whose vectors of tokens are needed is run by native", async () => {
    const model = written("tokens", { architecture: "bert", pooling: "none" });
    const { target, decision } = await runtime.embed(texts, { model });
    expect(target).toBe("native:cpu");
    expect(JSON.stringify(decision)).toContain("node-llama-cpp gives no vectors of tokens");
  });

  it("another pooling is refused, with the target that has it", async () => {
    const model = written("pooled", { architecture: "bert", pooling: "mean" });
    const embedded = runtime.embed(texts, { model, pooling: "cls" });
    await expect(embedded).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED", remedy: /`target: "native"`/ });
    const { target } = await runtime.embed(texts, { model, pooling: "cls", target: "native" });
    expect(target).toBe("native:cpu");
  });
});

it("nomic-bert has the vectors of its definition", async () => {
  const model = await load(written("nomic", { architecture: "nomic-bert", pooling: "mean" }));
  const [vector = []] = rowsOf((await model.run(batch([long])))["sentence_embedding"]);
  expect(cosine(vector, nomicVector(long))).toBeGreaterThan(0.99999);
  expect(Math.hypot(...vector)).toBeCloseTo(Math.hypot(...nomicVector(long)), 2);
  await model.dispose();
});

describe("reranking", () => {
  let runtime: Runtime;
  beforeAll(async () => void (runtime = await createRuntime({ threads: 1, host: "inline" })));
  afterAll(() => runtime.dispose());
  const query = "where is the cat";
  const scoresOf = async (model: string, target: string, raw: boolean): Promise<readonly number[]> => {
    const { results, scoring, target: used, truncated } = await runtime.rerank(query, texts, { model, target, raw });
    expect([used, scoring, truncated]).toEqual([`${target}:cpu`, raw ? "none" : "sigmoid", []]);
    return results.toSorted((a, b) => a.index - b.index).map(({ score }) => score);
  };

  it("has the logits of native, and applies the sigmoid once", async () => {
    const model = written("rank", { architecture: "bert", pooling: "rank" });
    const [expected, raw, scores] = [
      await scoresOf(model, "native", true),
      await scoresOf(model, "llamacpp", true),
      await scoresOf(model, "llamacpp", false),
    ];
    expect(new Set(raw).size).toBe(texts.length);
    for (const [index, logit] of raw.entries()) {
      expect(logit).toBeCloseTo(expected[index] ?? Number.NaN, 2);
      expect(scores[index]).toBeCloseTo(1 / (1 + Math.exp(-logit)), 5);
    }
    expect(raw.some((logit) => logit < 0 || logit > 1)).toBe(true);
  });

  it("several labels are those of native", async () => {
    const model = written("labels", { architecture: "bert", pooling: "rank", labels: 3 });
    const logits = await Promise.all(
      ["native", "llamacpp"].map(async (target) => {
        const { results } = await runtime.classify(texts, { model, target, activation: "none" });
        return results.map((labels) => labels.toSorted((a, b) => a.label.localeCompare(b.label)).map(({ score }) => score));
      }),
    );
    for (const [index, row] of (logits[0] ?? []).entries())
      for (const [label, logit] of row.entries()) expect(logits[1]?.[index]?.[label]).toBeCloseTo(logit, 2);
  });

  it("a reranker with token types is run by native, since llama.cpp has one type alone", async () => {
    const model = written("types-rank", { architecture: "bert", pooling: "rank", tokenTypes: 2 });
    const { target, decision } = await runtime.rerank(query, texts, { model });
    expect(target).toBe("native:cpu");
    expect(JSON.stringify(decision)).toContain("has 2 token types, and llama.cpp reads query and document as of the first one");
  });

  it("a reranker without an output layer, and one with a prompt of its own, are refused by name", async () => {
    const decoder = join(folder, "prompt-rank.gguf");
    await rewriteGguf(written("prompted", { architecture: "bert", pooling: "rank" }), decoder, {
      "tokenizer.chat_template.rerank": { type: "string", value: "{query} {document}", bytes: 18 },
    });
    await expect(load(decoder)).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED", message: /in a prompt/ });
    const headless = join(folder, "headless.gguf");
    await rewriteGguf(written("mean-as-rank", { architecture: "bert", pooling: "mean" }), headless, {
      "bert.pooling_type": { type: "uint32", value: 4 },
    });
    await expect(load(headless)).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: /without the tensor cls.output.weight/,
    });
  });
});
