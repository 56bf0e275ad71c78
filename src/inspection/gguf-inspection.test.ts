import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as write from "../../test/fixtures/models/gguf-bytes.ts";
import { needsData, sharedData } from "../../test/fixtures/shared-data.ts";
import type { GgufInspection } from "./gguf-inspection.ts";
import { inspectFile } from "./index.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-gguf-"))));
afterAll(async () => await rm(folder, { recursive: true, force: true }));

type Metadata = NonNullable<write.GgufParts["metadata"]>;

/** A file of this metadata with one F32 tensor of 100 bytes. */
async function inspect(metadata: Metadata, over: { type?: number; context?: number } = {}): Promise<GgufInspection> {
  const tensors = [{ name: "t", type: over.type ?? 0, shape: [over.type === undefined ? 25 : 256], offset: 0 }];
  const path = join(folder, "x.gguf");
  await writeFile(path, write.gguf({ metadata, tensors, dataBytes: over.type === undefined ? 100 : 128 }));
  const { context } = over;
  return (await inspectFile(path, context === undefined ? {} : { context })) as GgufInspection;
}

/** The numbers of Llama 3 8B: 32 layers, 8 of 32 heads keep keys and values, 4096 wide, made for 8192 tokens. */
const llama: Metadata = [
  ["general.architecture", write.text("llama")],
  ["llama.context_length", write.uint32(8192)],
  ["llama.block_count", write.uint32(32)],
  ["llama.embedding_length", write.uint32(4096)],
  ["llama.attention.head_count", write.uint32(32)],
  ["llama.attention.head_count_kv", write.uint32(8)],
];

describe("memory of a language model", () => {
  it("is the weights and, for each token, a key and a value in every layer", async () => {
    // 512 MiB at 4096 tokens is what llama.cpp prints for this shape in f16.
    const { memory } = await inspect(llama);
    expect(memory).toEqual({
      context: 4096,
      weightBytes: 100,
      cacheBytes: 512 * 1024 * 1024,
      totalBytes: 100 + 512 * 1024 * 1024,
      formula: "4096 tokens × 32 layers × 8 heads × (128 + 128) × 2 bytes (keys and values in half precision)",
    });
  });

  it("is for the context wanted, with a word where the model was made for less", async () => {
    expect((await inspect(llama, { context: 1024 })).memory).toMatchObject({ context: 1024, cacheBytes: 128 * 1024 * 1024 });
    expect((await inspect(llama, { context: 16_384 })).memory).toMatchObject({ note: "the model was made for 8192 tokens" });
  });

  it("follows lengths of keys and values, and numbers of heads, that are stated on their own", async () => {
    const heads = write.uint32s(...Array.from({ length: 32 }, (_item, layer) => (layer < 16 ? 8 : 0)));
    const metadata: Metadata = [
      ...llama.slice(0, 5),
      ["llama.attention.head_count_kv", heads],
      ["llama.attention.key_length", write.uint32(256)],
      ["llama.attention.value_length", write.uint32(64)],
    ];
    const { memory } = await inspect(metadata, { context: 100 });
    expect(memory?.cacheBytes).toBe(100 * 16 * 8 * (256 + 64) * 2);
    expect(memory?.formula).toContain("128 heads in 32 layers × (256 + 64)");
  });

  it("has a key and a value for every head where the file tells no key-value heads apart", async () => {
    const { memory } = await inspect(llama.slice(0, 5), { context: 10 });
    expect(memory?.cacheBytes).toBe(10 * 32 * 32 * (128 + 128) * 2);
  });

  it("has no keys and values for an encoder", async () => {
    const { memory } = await inspect([...llama, ["llama.attention.causal", write.bool(0)]]);
    expect(memory).toMatchObject({ cacheBytes: 0, totalBytes: 100 });
  });

  it("says that a sliding window can make it smaller", async () => {
    const { memory } = await inspect([...llama, ["llama.attention.sliding_window", write.uint32(512)]]);
    expect(memory?.note).toContain("sliding window");
  });

  it.each<[string, Metadata, string]>([
    [
      "a recurrent state",
      [...llama, ["llama.ssm.state_size", write.uint32(16)]],
      "it keeps a recurrent state besides keys and values",
    ],
    ["no number of layers", llama.filter(([key]) => key !== "llama.block_count"), "it does not say llama.block_count"],
    ["no heads", llama.filter(([key]) => !key.includes("head_count")), "it does not say llama.attention.head_count"],
    [
      "no context",
      llama.filter(([key]) => !key.includes("context")),
      "it does not say llama.context_length; give a context length",
    ],
    ["no architecture", llama.slice(1), "it does not name its architecture"],
    [
      "heads of other layers",
      [...llama.slice(0, 4), ["llama.attention.head_count_kv", write.uint32s(8, 8)]],
      "it does not say llama.attention.head_count",
    ],
  ])("is left out, with the reason, for %s", async (_name, metadata, reason) => {
    const inspection = await inspect(metadata);
    expect(inspection.memory).toBeUndefined();
    expect(inspection.memoryUnknown).toBe(reason);
  });
});

describe("quantization", () => {
  const stated = (fileType: number): Metadata => [...llama, ["general.file_type", write.uint32(fileType)]];

  it.each<[number, number | undefined, string]>([
    [15, undefined, "Q4_K_M"],
    [1024 + 7, undefined, "Q8_0 (guessed)"],
    [999, undefined, "file type 999"],
    [40, undefined, "Q1_0"],
    [40, 36, "I2_S"],
  ])("%i, with tensors of type %s, is called %s", async (fileType, type, name) => {
    const { quantization } = await inspect(stated(fileType), type === undefined ? {} : { type });
    expect(quantization?.stated).toBe(name);
  });

  it("is also what most parameters really are", async () => {
    const { quantization } = await inspect(stated(15));
    expect(quantization).toEqual({ stated: "Q4_K_M", majority: "F32", bitsPerParameter: 32 });
  });
});

const [skip, name] = needsData("GGUF files of others");

describe.skipIf(skip)(name, () => {
  it("a Llama of 2 layers with 2 key-value heads of 16", async () => {
    const inspection = (await inspectFile(`${sharedData}gguf-tiny-llama/tiny-llama-q8_0.gguf`, {
      context: 50,
    })) as GgufInspection;
    expect(inspection).toMatchObject({
      architecture: "llama",
      quantization: { stated: "Q8_0", majority: "Q8_0" },
      tokenizer: { model: "llama", vocabulary: 512, hasChatTemplate: false },
    });
    expect(inspection.memory?.cacheBytes).toBe(50 * 2 * 2 * (16 + 16) * 2);
    expect(inspection.backends.map(({ backend, verdict }) => [backend, verdict])).toEqual([
      ["onnx", "no"],
      ["xla", "expected"],
      ["llamacpp", "unknown"],
      ["native", "expected"],
      ["wasm", "no"],
      ["library", "unknown"],
    ]);
  });

  it("vocabularies without a model", async () => {
    const inspection = (await inspectFile(`${sharedData}gguf-vocab/ggml-vocab-bert-bge.gguf`)) as GgufInspection;
    expect(inspection).toMatchObject({
      parameters: 0,
      tokenizer: { model: "bert", pretokenizer: "bert-bge", vocabulary: 30_522 },
    });
    expect(inspection.memoryUnknown).toBe("it holds no tensors");
  });
});
