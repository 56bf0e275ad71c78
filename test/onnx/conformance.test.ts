/** The backends that come with Inferyard, held against the contract on real model files, as built. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ModelFiles } from "inferyard/backend";
import { native } from "inferyard/backends/native";
import { onnx } from "inferyard/backends/onnx";
import { wasm } from "inferyard/backends/wasm";
import { type ConformanceSubject, tolerances } from "inferyard/testing";
import { type ModelSubject, damaged, float32, int64, tinyBert } from "../fixtures/conformance-subjects.ts";
import { hasSharedData, needsData, sharedData } from "../fixtures/shared-data.ts";
import { backendCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";

const folder = hasSharedData ? mkdtempSync(join(tmpdir(), "inferyard-conformance-")) : "";
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** model2vec's test model, and what model2vec gives for five tokens of it (scripts/goldens/transformers/static-goldens.py). */
function staticModel(): ModelSubject {
  const goldens = readFileSync(new URL("../../src/backends/native/static-goldens.json", import.meta.url), "utf8");
  const { models } = JSON.parse(goldens) as { models: { folder?: string; cases: { ids: number[]; mean: number[] }[] }[] };
  const golden = models.find((candidate) => candidate.folder === "test-model-float32");
  const { ids, mean } = golden!.cases.find((candidate) => candidate.ids.length > 3)!;
  const path = `${sharedData}static-embeddings/test-model-float32/model.safetensors`;
  const model: ModelFiles = { format: "safetensors", path, bytes: 236_312, architecture: "StaticModel", config: {} };
  return {
    model,
    damaged: damaged(model, folder),
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
const bert = hasSharedData ? tinyBert(folder) : undefined;
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
