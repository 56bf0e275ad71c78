/** Modules after pooling on a real graph: a folder made of tiny-random-bert, held against the modules computed by hand here. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { first, hidden, second, writeDenseModel } from "../fixtures/models/dense-model.ts";
import { needsData, sharedData, worst } from "../fixtures/shared-data.ts";

const [skip, name] = needsData("modules after pooling");

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
    await writeDenseModel(model);
    runtime = await createRuntime({ target, host: "inline", threads: 1 });
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
