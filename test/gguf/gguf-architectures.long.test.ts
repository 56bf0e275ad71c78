/** Architectures from GGUF files, against what transformers computes with the same weights (scripts/goldens/transformers/gguf-goldens.py), and against llama.cpp. */
import { createRuntime, type InferyardError } from "inferyard";
import type { Backend } from "inferyard/backend";
import { llamacpp } from "inferyard/backends/llamacpp";
import { native } from "inferyard/backends/native";
import { getLlama, LlamaLogLevel } from "node-llama-cpp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GgufValue } from "../../src/formats/gguf/gguf-metadata.ts";
import { huggingFaceModel } from "../../src/formats/gguf/models/architectures.ts";
import { readGgufModel } from "../../src/formats/gguf/models/read-model.ts";
import { readManifest } from "../../src/models/index.ts";
import { caseOf, cases, type GgufCase, type GgufOptions, ids, text, writeCase } from "./fixtures/gguf-models.ts";
import { worst } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

const cpu = { type: "cpu", index: 0 };

/** Largest difference from transformers. */
const tolerance = 2e-5;
/** That of ternary weights that stay quantized: activations are rounded to 8 bits, in groups of 128. */
const quantizedTolerance = 0.1;
/** That of llama.cpp, which keeps keys and values in half precision. */
const llamaTolerance = 1e-3;

/** One for all tests: a backend tests its kernels when it loads its first model. */
const ours = native();

/** Hidden states or logits of all tokens of `ids`. */
async function statesOf(golden: GgufCase, options: GgufOptions = {}, backend: Backend = ours): Promise<Float32Array> {
  const { variants } = await readManifest(writeCase(golden, options));
  const [variant] = variants;
  if (golden.output === "logits") {
    const model = await backend.loadLanguage!(variant as never, cpu, {});
    const sequence = await model.createSequence();
    const [logits] = await model.decode([{ sequence, tokens: ids, logits: ids.length }]);
    await model.dispose();
    return logits!;
  }
  const model = await backend.load(variant!, cpu, {});
  const integers = (values: readonly number[]) =>
    ({ dataType: "int64", shape: [1, values.length], data: BigInt64Array.from(values, BigInt) }) as const;
  const given = {
    input_ids: integers(ids),
    attention_mask: integers(ids.map(() => 1)),
    position_ids: integers(ids.map((_, index) => index)),
    token_type_ids: integers(ids.map(() => 0)),
  };
  const inputs = Object.fromEntries(Object.entries(given).filter(([name]) => model.inputs.some((each) => each.name === name)));
  const { last_hidden_state: states } = await model.run(inputs);
  await model.dispose();
  return states!.data as Float32Array;
}

let runtime: Awaited<ReturnType<typeof createRuntime>>;
let llama: Awaited<ReturnType<typeof getLlama>>;
beforeAll(async () => {
  runtime = await createRuntime({ threads: 1, host: "inline" });
  llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.disabled });
});
afterAll(async () => {
  await runtime.dispose();
  await llama.dispose();
});

/** The vector of `text`, of unit length, on `native` and from llama.cpp. */
async function vectorOf(path: string): Promise<Float32Array> {
  const { embeddings, target } = await runtime.embed(text, { model: path, target: "native" });
  expect(target).toBe("native:cpu");
  return embeddings[0]!;
}

async function llamaVector(modelPath: string): Promise<Float32Array> {
  const model = await llama.loadModel({ modelPath });
  const context = await model.createEmbeddingContext({ contextSize: 64, threads: 1 });
  const { vector } = await context.getEmbeddingFor(text);
  await model.dispose();
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (value) => value / length);
}

describe.each(cases.map((each) => [each.name, each] as const))("%s", (_name, golden) => {
  const isBitNet = golden.rounded !== undefined;

  it("has the states of transformers", async () => {
    expect(worst(await statesOf(golden), Float32Array.from(golden.states))).toBeLessThan(tolerance);
  });

  it.skipIf(golden.vector === undefined)("embeds a text as transformers does", async () => {
    expect(worst(await vectorOf(writeCase(golden)), Float32Array.from(golden.vector ?? []))).toBeLessThan(tolerance);
  });

  // llama.cpp does not have the norms of BitNet's embedding models.
  it.skipIf(golden.vector === undefined || isBitNet)("embeds a text as llama.cpp does", async () => {
    const path = writeCase(golden);
    expect(worst(await vectorOf(path), await llamaVector(path))).toBeLessThan(llamaTolerance);
  });

  it.skipIf(!isBitNet)(
    "has them with weights in I2_S too, about as close as BitNet, which rounds the activations of a token together",
    async () => {
      const own = await statesOf(golden, { layout: "x86" });
      const exact = Float32Array.from(golden.states);
      expect(worst(own, exact)).toBeLessThan(quantizedTolerance);
      expect(worst(own, exact)).toBeLessThan(1.5 * worst(Float32Array.from(golden.rounded ?? []), exact));
    },
  );
});

const ofLlama = llamacpp();
afterAll(() => ofLlama.dispose?.());

it("bitnet has the logits of llama.cpp", async () => {
  const golden = caseOf("bitnet");
  expect(worst(await statesOf(golden, {}, ofLlama), Float32Array.from(golden.states))).toBeLessThan(llamaTolerance);
});

it("a scale beside the weights of BitNet multiplies them", async () => {
  const golden = caseOf("bitnet");
  const scaled = {
    ...golden,
    tensors: { ...golden.tensors, "blk.1.ffn_down.scale": { shape: [1] } },
  };
  const half = new Uint8Array(Float32Array.of(0.5).buffer);
  const replaced = { "blk.1.ffn_down.scale": { type: "F32", bytes: 4, read: () => half } };
  const own = await statesOf(scaled, { replaced });
  expect(worst(own, Float32Array.from(golden.states))).toBeGreaterThan(0.01);
  const expected = await statesOf(scaled, { replaced }, ofLlama);
  expect(worst(own, expected)).toBeLessThan(llamaTolerance);
});

const uint32 = (value: number): GgufValue => ({ type: "uint32", value });

/** The error of loading a case on `native`. */
async function errorOf(golden: GgufCase, options: GgufOptions): Promise<InferyardError | undefined> {
  return await statesOf(golden, options).then(
    () => undefined,
    (error: unknown) => error as InferyardError,
  );
}

describe("files that are refused", () => {
  const typed = { name: "InferyardError", code: expect.stringMatching(/^MODEL_(INVALID|UNSUPPORTED)$/) };

  it.each([
    [
      "nomic-bert",
      ["embedding_length", "feed_forward_length", "block_count", "attention.head_count", "attention.layer_norm_epsilon"],
    ],
    [
      "gemma-embedding",
      [
        "embedding_length",
        "feed_forward_length",
        "block_count",
        "attention.head_count",
        "attention.head_count_kv",
        "attention.key_length",
      ],
    ],
    ["bitnet-b1.58", ["embedding_length", "feed_forward_length", "block_count", "attention.head_count", "attention.key_length"]],
  ])("of %s: sizes that its tensors do not have", async (name, keys) => {
    const golden = caseOf(name);
    for (const key of keys) {
      const full = `${golden.architecture}.${key}`;
      const { type } = golden.metadata[full] as { type: "uint32" | "float32" };
      const values = type === "float32" ? [0, -1, Number.NaN] : [0, 1_000_000_000, 4_294_967_295];
      for (const value of runsAll ? values : values.slice(-1))
        expect(await errorOf(golden, { metadata: { [full]: { type, value } } }), `${key} ${value}`).toMatchObject(typed);
      expect(await errorOf(golden, { metadata: { [full]: { type: "int32", value: -1 } } }), `${key} -1`).toMatchObject(typed);
    }
    expect(await errorOf(golden, { without: /blk\.1\.ffn_down/ })).toMatchObject({ code: "MODEL_INVALID" });
  });

  it("layers behind the pooling that do not fit, and a pooling without a meaning", async () => {
    const golden = caseOf("gemma-embedding");
    for (const [key, value] of [
      ["dense_2_feat_out", 23],
      ["dense_3_feat_in", 16],
      ["dense_2_feat_in", 0],
      ["pooling_type", 9],
    ] as const) {
      const error = await errorOf(golden, { metadata: { [`gemma-embedding.${key}`]: uint32(value) } });
      expect(error, key).toMatchObject({ code: "MODEL_INVALID" });
    }
  });

  it("mixtures of experts of NomicBERT, by name", async () => {
    const golden = { ...caseOf("nomic-bert"), architecture: "nomic-bert-moe" };
    expect(await errorOf(golden, {})).toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("nomic-bert-moe"),
    });
    const experts = writeCase(caseOf("nomic-bert"), { metadata: { "nomic-bert.expert_count": uint32(8) } });
    await expect(readGgufModel(experts, experts).then(huggingFaceModel)).rejects.toMatchObject(unsupported("expert"));
  });

  it("gemma3 without causal attention, and a decoder without it that writes text", async () => {
    const notCausal = (architecture: string) =>
      ({ [`${architecture}.attention.causal`]: { type: "bool", value: false } }) as const;
    const gemma = caseOf("gemma3 with pooling and a window");
    const path = writeCase(gemma, { metadata: notCausal("gemma3") });
    await expect(readGgufModel(path, path).then(huggingFaceModel)).rejects.toMatchObject(unsupported("causal"));
    const bitnet = caseOf("bitnet");
    expect(await errorOf(bitnet, { metadata: notCausal("bitnet") })).toMatchObject(unsupported("use_bidirectional_attention"));
  });

  it.each([
    ["bitnet-b1.58", "TL2", "TL2", "is a matrix of 128x256 in TL2, and the tiles of that shape are not known"],
    ["bitnet", "MXFP4", "TL2", "is a matrix of 128x256 in TL2, and the tiles of that shape are not known"],
    ["bitnet-b1.58", "TL1", "TL1", "is a matrix of 128x256 in TL1, and the tiles of that shape are not known"],
    ["bitnet", "I8_S", "I8_S", "is of the type I8_S"],
    ["qwen3", "TL1", "TL1", "is a matrix of 128x256 in TL1, and the tiles of that shape are not known"],
  ] as const)(
    "%s: the types of BitNet that are not I2_S, by name: number of %s",
    async (architecture, written, type, refusal) => {
      const golden = caseOf(architecture === "qwen3" ? "BitNet embedding model like Qwen3" : architecture);
      const options = withType(written);
      const path = writeCase(golden, options);
      expect((await readGgufModel(path, path)).tensors.get(replacedTensor)?.type).toBe(type);
      expect(await errorOf(golden, options)).toMatchObject(unsupported(refusal));
      const decoder = architecture === "qwen3" ? caseOf("bitnet") : golden;
      const other = withType(type);
      await expect(statesOf(decoder, other, ofLlama)).rejects.toMatchObject(unsupported(`is of the type ${type}`));
    },
  );

  it("number 39 is MXFP4 where the architecture is not BitNet's", async () => {
    const golden = caseOf("BitNet embedding model like Qwen3");
    const path = writeCase(golden, withType("MXFP4"));
    expect((await readGgufModel(path, path)).tensors.get(replacedTensor)?.type).toBe("MXFP4");
    expect(await errorOf(golden, withType("MXFP4"))).toBeUndefined();
  });
});

const replacedTensor = "blk.0.ffn_down.weight";

/** One matrix as zeros of this type, in as many bytes as MXFP4 takes. */
function withType(type: string): GgufOptions {
  const bytes = (128 * 256 * 17) / 32;
  return { replaced: { [replacedTensor]: { type, bytes, read: () => new Uint8Array(bytes) } } };
}

function unsupported(part: string): object {
  return { code: "MODEL_UNSUPPORTED", message: expect.stringContaining(part) };
}
