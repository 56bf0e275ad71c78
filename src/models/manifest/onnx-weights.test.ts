import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InferyardError } from "../../contract/errors.ts";
import { readOnnxWeights } from "./onnx-weights.ts";

const shared = fileURLToPath(new URL("../../../../shared/data/", import.meta.url));
const absent = existsSync(shared) ? "" : ` (skipped: ${shared} is not there)`;

describe.skipIf(absent)(`ONNX files${absent}`, () => {
  let folder: string;
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-onnx-"))));
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  it.each([
    ["all-MiniLM-L6-v2/onnx/model.onnx", "fp32"],
    ["all-MiniLM-L6-v2/onnx/model_quantized.onnx", "int8"],
    ["minilm-l3-ner/onnx/model.onnx", "int8"],
    ["vision/SqueezeNet_fp16.onnx", "fp16"],
    ["transformer-dummies/add_float.onnx", undefined],
  ])("%s has weights in %s", async (file, precision) => {
    expect((await readOnnxWeights(join(shared, file), file)).precision).toBe(precision);
  });

  it("names the files beside it that hold weights", async () => {
    const { externalFiles } = await readOnnxWeights(
      join(shared, "transformer-dummies/external_data/add_with_external_data.onnx"),
      "x",
    );
    expect([...externalFiles]).toEqual([["external_data.bin", 4]]);
  });

  const whole = absent === "" ? readFileSync(join(shared, "tiny-random-bert/onnx/model.onnx")) : Buffer.alloc(0);

  const path = (): string => join(folder, "broken.onnx");
  const outcome = async (bytes: Buffer): Promise<string> => {
    await writeFile(path(), bytes);
    return await readOnnxWeights(path(), "./broken.onnx").then(
      () => "read",
      (error: InferyardError) => `${error.code} ${error.message}`,
    );
  };

  it("reports a file that is cut off, wherever that is", async () => {
    const property = fc.asyncProperty(fc.nat(whole.length - 1), async (length) => {
      expect(await outcome(whole.subarray(0, length))).toMatch(/^MODEL_INVALID \.\/broken\.onnx is not a whole ONNX file/);
    });
    await fc.assert(property);
  });

  it("takes a file that is changed anywhere, or reports it", async () => {
    const property = fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), async (at, value) => {
      expect(await outcome(Buffer.from(whole).fill(value, at, Math.min(at + 3, whole.length)))).toMatch(
        /^(read$|MODEL_INVALID \.\/broken\.onnx is not)/,
      );
    });
    await fc.assert(property);
  });
});
