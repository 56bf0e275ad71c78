/** Modules after pooling on a real graph: a folder made of tiny-random-bert, held against the modules computed by hand here. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { writeSafetensors } from "../src/write-safetensors.ts";
import { needsData, sharedData, worst } from "./shared-data.ts";

const [skip, name] = needsData("modules after pooling");

const hidden = 32;
/** Numbers that are like a trained matrix's and the same each time. */
const wave = (count: number, phase: number): Float32Array =>
  Float32Array.from({ length: count }, (_value, index) => Math.sin(index * 1.7 + phase) * 0.4);
const first = { weight: wave(24 * hidden, 1), bias: wave(24, 2) };
const second = { weight: wave(16 * 24, 3) };

const linear = (vector: Float32Array, weight: Float32Array, bias?: Float32Array): number[] =>
  Array.from({ length: weight.length / vector.length }, (_row, row) => {
    const products = Array.from(vector, (value, column) => value * weight[row * vector.length + column]!);
    return products.reduce((sum, product) => sum + product, bias?.[row] ?? 0);
  });

const unit = (vector: readonly number[]): Float32Array => {
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (value) => value / length);
};

describe.skipIf(skip).each(["onnx:cpu", "wasm:cpu"])(`${name} on %s`, (target) => {
  let folder: string;
  let model: string;
  let runtime: Runtime;
  const texts = ["the cat sat on the mat", "a", "dogs and cats are animals, and so are birds"];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-dense-"));
    model = join(folder, "model");
    cpSync(`${sharedData}tiny-random-bert`, model, { recursive: true });
    rmSync(join(model, "model.safetensors"));
    const types = ["Transformer", "Pooling", "Dense", "Normalize", "Dense", "Normalize"];
    const modules = types.map((type, idx) => ({
      idx,
      name: String(idx),
      path: idx === 0 ? "" : `${idx}_${type}`,
      type: `sentence_transformers.models.${type}`,
    }));
    writeFileSync(join(model, "modules.json"), JSON.stringify(modules));
    for (const { path } of modules) mkdirSync(join(model, path), { recursive: true });
    writeFileSync(join(model, "1_Pooling/config.json"), JSON.stringify({ pooling_mode_mean_tokens: true }));
    const tanh = { in_features: hidden, out_features: 24, bias: true, activation_function: "torch.nn.modules.activation.Tanh" };
    writeFileSync(join(model, "2_Dense/config.json"), JSON.stringify(tanh));
    await writeSafetensors(join(model, "2_Dense/model.safetensors"), {
      "linear.weight": { dataType: "float32", shape: [24, hidden], data: first.weight },
      "linear.bias": { dataType: "float32", shape: [24], data: first.bias },
    });
    const plain = { in_features: 24, out_features: 16, bias: false, activation_function: "torch.nn.modules.linear.Identity" };
    writeFileSync(join(model, "4_Dense/config.json"), JSON.stringify(plain));
    await writeSafetensors(join(model, "4_Dense/model.safetensors"), {
      "linear.weight": { dataType: "float32", shape: [16, 24], data: second.weight },
    });
    runtime = await createRuntime({ target });
  });
  afterAll(async () => {
    await runtime?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  it("are applied in their order, unit length between and after them, and dimensions are cut last", async () => {
    const pooled = await runtime.embed(texts, { model: `${sharedData}tiny-random-bert`, pooling: "mean" });
    const { embeddings, dimensions } = await runtime.embed(texts, { model });
    expect(dimensions).toBe(16);
    const short = await runtime.embed(texts, { model, dimensions: 5 });
    const raw = await runtime.embed(texts, { model, normalize: false });
    for (const [index, vector] of pooled.embeddings.entries()) {
      const middle = unit(linear(vector, first.weight, first.bias).map(Math.tanh));
      const last = linear(middle, second.weight);
      expect(worst(embeddings[index]!, unit(last))).toBeLessThan(1e-6);
      expect(worst(short.embeddings[index]!, unit(last.slice(0, 5)))).toBeLessThan(1e-6);
      expect(worst(raw.embeddings[index]!, Float32Array.from(last))).toBeLessThan(1e-6);
    }
    expect((await runtime.embed([], { model })).dimensions).toBe(16);
  });

  it("do not touch the vectors of tokens", async () => {
    const plain = await runtime.embed(texts, { model: `${sharedData}tiny-random-bert`, pooling: "none" });
    const { embeddings, dimensions } = await runtime.embed(texts, { model, pooling: "none" });
    expect(dimensions).toBe(hidden);
    for (const [index, vectors] of embeddings.entries()) expect(worst(vectors, plain.embeddings[index]!)).toBeLessThan(1e-6);
  });
});
