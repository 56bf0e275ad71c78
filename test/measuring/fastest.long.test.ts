/** The policy "fastest" takes recorded measurements for every kind of model: what was measured decides where a language model, a classifier and tensors run. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Decision, type Runtime, createRuntime } from "inferyard";
import { native } from "inferyard/backends/native";
import { onnx } from "inferyard/backends/onnx";
import { threadsFor } from "../../src/devices/index.ts";
import { type Measurement, measuredMachine, recordMeasurements } from "../../src/speed-records/index.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const home = mkdtempSync(join(tmpdir(), "inferyard-fastest-"));
afterAll(() => rmSync(home, { recursive: true }));
beforeAll(() => void vi.stubEnv("INFERYARD_HOME", home));
afterAll(() => vi.unstubAllEnvs());

const classifier = `${sharedData}tiny-bert-nli-untrained`;
const language = `${sharedData}tiny-random-gpt2`;
const tensors = `${sharedData}vision/mnist.onnx`;
const picture = { dataType: "float32", shape: [1, 1, 28, 28], data: new Float32Array(28 * 28) } as const;

const [skip, title] = needsData("the policy fastest");
describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime({ backends: [onnx(), native()], host: "inline", policy: "fastest" });
  });
  afterAll(() => runtime.dispose());

  /** Records that a model is faster on `native:cpu` than on `onnx:cpu`. */
  async function recordNativeAsFaster(path: string, variant: string, unit: Measurement["figures"]["unit"]): Promise<void> {
    const facts = await runtime.machine();
    const { size: bytes, mtimeMs: modifiedMs } = statSync(path);
    const digest = `sha256:${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
    const reports = await runtime.backends();
    const figures = { rounds: 1, unit, loadMs: 1, perSecond: 1, memoryBytes: 1, latencyRangeMs: [1, 9] } as const;
    const measurements = ["native", "onnx"].map((name, index): Measurement => {
      const { availability } = reports.find(({ backend }) => backend === name)!;
      return {
        at: "2026-11-27T10:00:00.000Z",
        machine: measuredMachine(facts),
        model: { digest, variant, path, bytes, modifiedMs },
        target: `${name}:cpu`,
        library: availability.present ? availability.library : { name: "", version: "" },
        threads: threadsFor(facts.cpu),
        settings: {},
        figures: { ...figures, latencyMs: 1 + 8 * index },
      };
    });
    await recordMeasurements(measurements);
  }

  it.each<
    [
      string,
      string,
      string,
      Measurement["figures"]["unit"],
      () => Promise<{ readonly target: string; readonly decision: Decision }>,
    ]
  >([
    [
      "a language model",
      `${language}/onnx/model.onnx`,
      "fp32",
      "generations",
      () => runtime.generate("a", { model: language, maxNewTokens: 1 }),
    ],
    ["a classifier", `${classifier}/onnx/model.onnx`, "fp32", "texts", () => runtime.classify("a", { model: classifier })],
    ["plain tensors", tensors, "mnist", "runs", () => runtime.run(tensors, { Input3: picture })],
  ])("%s runs where it was measured to be faster", async (_name, path, variant, unit, run) => {
    expect((await run()).target).toBe("onnx:cpu"); // the order of backends
    await recordNativeAsFaster(path, variant, unit);
    await runtime.unloadIdle(); // a model that is loaded stays where it is
    const { target, decision } = await run();
    expect(target, JSON.stringify(decision.candidates)).toBe("native:cpu");
  });
});
