/** Verification of the models of the shared data on every target of this machine: no engine is accused, and each model is known by its kind. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { verifyModel } from "inferyard/measuring";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { sampled } from "../fixtures/slow.ts";

const models: readonly (readonly [model: string, kind: string, inSample?: true])[] = [
  ["all-MiniLM-L6-v2", "embedding"],
  ["static-embeddings/test-model-int8", "embedding", true],
  ["tinyllm/tinyllm.gguf", "language", true],
  ["gguf-tiny-llama/tiny-llama-256-q4_k.gguf", "language"],
  ["gguf-tiny-llama/tiny-llama-256-ternary-tq2_0.gguf", "language"],
  ["gguf-tiny-llama/tiny-llama-f16.gguf", "language"],
  ["gguf-tiny-llama/tiny-llama-q8_0.gguf", "language", true],
  ["gpt2-tiny-random", "language"],
  ["tiny-random-gemma", "language"],
  ["tiny-random-qwen2", "language"],
  ["tiny-random-t5", "encoder-decoder", true],
  ["tiny-random-bart", "encoder-decoder"],
  ["marian-tiny-random", "encoder-decoder"],
  ["minilm-l3-ner", "token-classifier", true],
  ["minilm-pair-scorer", "reranker"],
  ["tiny-random-cross-encoder", "reranker", true],
  ["tiny-bert-nli-untrained", "classifier", true],
  ["tiny-random-deberta-v3", "classifier"],
  ["tiny-random-modernbert", "classifier"],
  ["tiny-random-splade", "masked-language"],
  ["tiny-random-colbert", "multi-vector"],
  ["tiny-random-bert", "encoder"],
  ["transformer-dummies/transformer/dummy_transformer_mlm.onnx", "encoder", true],
  ["tiny-random-clip", "tensors"],
  ["tiny-random-vit", "tensors"],
  ["tiny-random-wav2vec2-ctc", "tensors"],
  ["tiny-random-whisper", "tensors", true],
  ["tiny-random-trocr", "tensors"],
  ["magika", "tensors"],
  ["vision/SqueezeNet_fp16.onnx", "tensors", true],
  ["vision/version-RFB-320_simplified.onnx", "tensors"],
  ["transformer-dummies/badnames.onnx", "tensors"],
  ["transformer-dummies/llm/random_decoder.onnx", "tensors"],
];

const [skip, title] = needsData("every model on every target");
describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline" });
  });
  afterAll(() => runtime.dispose());

  for (const [skipped, name, rows] of sampled(
    "%s is of the kind %s, and no target fails",
    models,
    ([, , isSample]) => isSample === true,
  )) {
    it.skipIf(skipped).each(rows)(name, async (model, kind) => {
      const { kind: found, targets } = await verifyModel(runtime, { model: `${sharedData}${model}` });
      expect(found).toBe(kind);
      expect(targets.filter(({ verdict }) => verdict === "fail")).toEqual([]);
      expect(targets.some(({ verdict }) => verdict === "pass")).toBe(true);
    });
  }
});
