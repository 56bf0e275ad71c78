import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ModelFiles } from "../../contract/backend.ts";
import { backendCases } from "../../testing/index.ts";
import { native } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-native-conformance-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A tiny model in each storage, and what model2vec gives for it: scripts/goldens/transformers/static-goldens.py. */
const { models } = JSON.parse(readFileSync(new URL("static-goldens.json", import.meta.url), "utf8")) as {
  models: { name: string; file?: string; cases: { ids: number[]; mean: number[] }[] }[];
};

function modelFile(name: string, bytes: Uint8Array): ModelFiles {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return { format: "safetensors", path, bytes: bytes.length, architecture: "StaticModel", config: {} };
}

const first = models.find(({ file }) => file !== undefined);
/** Cases that use no model: they are run once. */
const isOfBackend = /^(creating|probe|capabilities|a device|the entry)/;

for (const { name, file, cases: goldens } of models) {
  if (file === undefined) continue;
  const bytes = Buffer.from(file, "base64");
  const { ids, mean } = goldens.find((golden) => golden.ids.length === 5) ?? { ids: [], mean: [] };
  const shape = [1, ids.length];
  const subject = {
    create: native,
    device: { type: "cpu", index: 0 },
    model: modelFile(`${name}.safetensors`, bytes),
    damaged: modelFile(`${name} damaged.safetensors`, bytes.subarray(0, -7)),
    inputs: {
      input_ids: { dataType: "int64", shape, data: BigInt64Array.from(ids, BigInt) },
      attention_mask: { dataType: "int64", shape, data: new BigInt64Array(ids.length).fill(1n) },
    },
    expected: { sentence_embedding: { dataType: "float32", shape: [1, mean.length], data: Float32Array.from(mean) } },
    // Sums of a handful of float32, of up to some hundreds in the int8 models.
    tolerance: 1e-5 * Math.max(1, ...mean.map(Math.abs)),
  } as const;
  describe(name, () => {
    const cases = backendCases(subject).filter((each) => name === first?.name || !isOfBackend.test(each.name));
    for (const { name: promise, run } of cases) it(promise, async () => await expect(run()).resolves.toBeUndefined());
  });
}
