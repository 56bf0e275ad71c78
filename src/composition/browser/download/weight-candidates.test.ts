import { describe, expect, it } from "vitest";
import type { ManifestFiles } from "./manifest-files.ts";
import { graphPairs, weightsCandidates } from "./weight-candidates.ts";

const plain: ManifestFiles = { inner: "", isStatic: false, others: [], weights: [] };
const files = (stated: ManifestFiles, variant?: string): string[] => weightsCandidates(stated, variant).map(({ file }) => file);

describe("weights asked for", () => {
  it("are the exact ones first, in onnx/ before the folder itself", () => {
    expect(files(plain).slice(0, 4)).toEqual(["onnx/model.onnx", "model.onnx", "onnx/model_fp32.onnx", "model_fp32.onnx"]);
  });

  it.each([
    ["int8", ["onnx/model_int8.onnx", "model_int8.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx"]],
    ["q8", ["onnx/model_quantized.onnx", "model_quantized.onnx"]],
    ["fp32", ["onnx/model.onnx", "model.onnx", "onnx/model_fp32.onnx", "model_fp32.onnx"]],
    ["model_qint8_avx512", ["onnx/model_qint8_avx512.onnx", "model_qint8_avx512.onnx"]],
  ])("are for the variant %s only what it can mean", (variant, wanted) => {
    expect(files(plain, variant)).toEqual(wanted);
  });

  it("are those of a transformer's folder last, or where they are asked for", () => {
    expect(files(plain).at(-1)).toBe("model.safetensors");
    expect(files(plain, "safetensors")).toEqual(["model.safetensors"]);
  });

  it("are the two graphs of a model that has no single one, with the suffix of a variant", () => {
    expect(graphPairs(plain, undefined).slice(0, 2)).toEqual([
      { file: "onnx/encoder_model.onnx", others: ["onnx/decoder_model_merged.onnx"] },
      { file: "encoder_model.onnx", others: ["decoder_model_merged.onnx"] },
    ]);
    expect(graphPairs(plain, "fp16").at(-1)).toEqual({ file: "vision_model_fp16.onnx", others: ["text_model_fp16.onnx"] });
    expect(graphPairs({ ...plain, weights: [{ file: "a.onnx", names: ["a"] }] }, undefined)).toEqual([]);
  });

  it("are model.safetensors for static embeddings, where modules.json says", () => {
    expect(files({ ...plain, isStatic: true, inner: "0_StaticEmbedding" })).toEqual(["0_StaticEmbedding/model.safetensors"]);
  });

  it("are those a manifest states and a browser can run, with what it says of them", () => {
    const weights = [
      { file: "model.gguf", names: ["q4"] },
      { file: "a", names: ["fp32"], size: 7, format: "onnx" as const },
      { file: "b.onnx", names: ["int8", "small"], sha256: "ab" },
    ];
    expect(weightsCandidates({ ...plain, weights }, undefined)).toEqual([
      { file: "a", stated: { size: 7 } },
      { file: "b.onnx", stated: { sha256: "ab" } },
    ]);
    expect(files({ ...plain, weights }, "small")).toEqual(["b.onnx"]);
    expect(files({ ...plain, weights }, "none")).toEqual([]);
  });
});
