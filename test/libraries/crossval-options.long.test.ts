/** Every option of a cross-validation has an effect, on a language model that is loaded once. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { native } from "inferyard/backends/native";
import { type CrossValidationOptions, crossValidate, recordLogits } from "inferyard/crossval";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const llama = `${sharedData}gguf-tiny-llama/tiny-llama-f32.gguf`;
const quantized = `${sharedData}gguf-tiny-llama/tiny-llama-q8_0.gguf`;
const folder = mkdtempSync(join(tmpdir(), "inferyard-crossval-"));
afterAll(() => rmSync(folder, { recursive: true }));

const [skip, title] = needsData("the options of a cross-validation");
describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ backends: [native()], host: "inline", threads: 1, keepAlive: "10m" });
  });
  afterAll(() => runtime.dispose());

  /** What is compared, without times; or the code of the error. */
  async function compared(options: Partial<CrossValidationOptions>): Promise<unknown> {
    try {
      const all = { model: llama, against: "native", target: "native", tokens: 2, ...options };
      const result = await crossValidate(runtime, all);
      return JSON.parse(JSON.stringify(result, (name, value: unknown) => (/Second$|^speed$|Ms$/.test(name) ? undefined : value)));
    } catch (error) {
      return { code: (error as { code?: string }).code };
    }
  }

  const known = new Map<string, Promise<unknown>>();
  const againstQuantized = { againstModel: quantized };
  it.each<[string, Partial<CrossValidationOptions>, Partial<CrossValidationOptions>]>([
    ["againstModel", {}, againstQuantized],
    ["againstVariant", {}, { againstVariant: "none-such" }],
    ["variant", {}, { variant: "none-such" }],
    ["target", {}, { target: "wasm" }],
    ["against", {}, { against: "none-such" }],
    ["prompt", {}, { prompt: "small" }],
    ["tokens", {}, { tokens: 3 }],
    ["continuation", {}, { continuation: "jump" }],
    ["maxError", againstQuantized, { maxError: 0 }],
    ["minCosine", againstQuantized, { minCosine: 1 }],
    ["signal", {}, { signal: AbortSignal.abort() }],
  ])("%s", async (_name, both, given) => {
    const key = JSON.stringify(both);
    const without = known.get(key) ?? compared(both);
    known.set(key, without);
    expect(await compared({ ...both, ...given })).not.toEqual(await without);
  });

  it("equal runs are equal, and limits that are kept are no failures", async () => {
    expect(await compared({ maxError: 0, minCosine: 1 })).toMatchObject({ failures: [], tested: { target: "native:cpu" } });
    expect(await compared({ ...againstQuantized, maxError: 0 })).toMatchObject({ failures: [expect.any(String)] });
  });

  it("record writes a recording, of a comparison or of a run alone, which other runs are held against", async () => {
    const [beside, alone] = [join(folder, "beside.safetensors"), join(folder, "alone.safetensors")];
    await compared({ record: beside });
    await recordLogits(runtime, { model: llama, target: "native", prompt: "small", tokens: 1, record: alone });
    expect([beside, alone].every(existsSync)).toBe(true);
    expect(await compared({ against: alone, tokens: undefined })).toMatchObject({ failures: [] });
  });
});
