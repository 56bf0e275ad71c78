/** The backends that come with Inferyard, held against the contract on real model files, as built. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ModelFiles, Tensor, TensorMap } from "inferyard/backend";
import { native } from "inferyard/backends/native";
import { onnx } from "inferyard/backends/onnx";
import { wasm } from "inferyard/backends/wasm";
import { type ConformanceSubject, tolerances } from "inferyard/testing";
import { hasSharedData, needsData, sharedData } from "../fixtures/shared-data.ts";
import { backendCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";

const folder = hasSharedData ? mkdtempSync(join(tmpdir(), "inferyard-conformance-")) : "";
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Subject = Omit<ConformanceSubject, "create" | "device">;

const int64 = (shape: readonly number[], values: readonly number[]): Tensor => ({
  dataType: "int64",
  shape,
  data: BigInt64Array.from(values, BigInt),
});
const float32 = (shape: readonly number[], data: Float32Array): Tensor => ({ dataType: "float32", shape, data });

/** The file cut short, beside nothing of what it may need: as a broken download leaves it. */
function damaged(model: ModelFiles): ModelFiles {
  const path = join(folder, `${Buffer.from(model.path).toString("hex").slice(-40)}.${model.format}`);
  writeFileSync(path, readFileSync(model.path).subarray(0, -1000));
  return { ...model, path };
}

/** A BERT with random weights, and what PyTorch gives for a padded batch of it. */
function tinyBert(): Subject {
  const path = `${sharedData}tiny-random-bert/`;
  const { padded_batch: batch } = JSON.parse(readFileSync(`${path}goldens.json`, "utf8")) as {
    padded_batch: Record<string, number[][]> & { last_hidden_state: { shape: number[]; data: string } };
  };
  const names = ["input_ids", "attention_mask", "token_type_ids"];
  const inputs = names.map((name) => [name, int64([batch[name]!.length, batch[name]![0]!.length], batch[name]!.flat())] as const);
  const { shape, data } = batch.last_hidden_state;
  const bytes = Buffer.from(data, "base64");
  const values = Float32Array.from({ length: bytes.length / 4 }, (_value, index) => bytes.readFloatLE(index * 4));
  const model: ModelFiles = { format: "onnx", path: `${path}onnx/model.onnx`, bytes: 179_419, config: {} };
  const expected: TensorMap = { last_hidden_state: float32(shape, values) };
  return { model, damaged: damaged(model), inputs: Object.fromEntries(inputs), expected, tolerance: tolerances.hiddenStateFp32 };
}

/** model2vec's test model, and what model2vec gives for five tokens of it (scripts/goldens/transformers/static-goldens.py). */
function staticModel(): Subject {
  const goldens = readFileSync(new URL("../../src/backends/native/static-goldens.json", import.meta.url), "utf8");
  const { models } = JSON.parse(goldens) as { models: { folder?: string; cases: { ids: number[]; mean: number[] }[] }[] };
  const golden = models.find((candidate) => candidate.folder === "test-model-float32");
  const { ids, mean } = golden!.cases.find((candidate) => candidate.ids.length > 3)!;
  const path = `${sharedData}static-embeddings/test-model-float32/model.safetensors`;
  const model: ModelFiles = { format: "safetensors", path, bytes: 236_312, architecture: "StaticModel", config: {} };
  return {
    model,
    damaged: damaged(model),
    inputs: {
      input_ids: int64([1, ids.length], ids),
      attention_mask: int64(
        [1, ids.length],
        ids.map(() => 1),
      ),
    },
    expected: { sentence_embedding: float32([1, mean.length], Float32Array.from(mean)) },
    tolerance: tolerances.staticEmbedding,
  };
}

const [skip, title] = needsData("the contract, kept by");
const cpu = { type: "cpu", index: 0 };
const bert = hasSharedData ? tinyBert() : undefined;
const subjects: readonly (readonly [string, ConformanceSubject | undefined])[] = [
  ["onnx", bert && { ...bert, create: onnx, device: cpu }],
  ["wasm", bert && { ...bert, create: wasm, device: cpu }],
  ["native", hasSharedData ? { ...staticModel(), create: native, device: cpu } : undefined],
  ["native, an ONNX graph", bert && { ...bert, create: native, device: cpu }],
];

it.skipIf(skip)(`${title} onnx, wasm and native`, () =>
  expect(subjects.every(([, subject]) => subject !== undefined)).toBe(true),
);

describe.skipIf(skip)(title, () => {
  describe.each(subjects)("%s", (_name, subject) => {
    for (const { name, run } of subject === undefined ? [] : backendCasesOnOneModel(subject))
      it(name, async () => await expect(run()).resolves.toBeUndefined());
  });
});
