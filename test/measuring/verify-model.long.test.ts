/** Verification of models of every kind: engines that agree pass, and one that computes something else is found, alone. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { native } from "inferyard/backends/native";
import { onnx } from "inferyard/backends/onnx";
import { type ModelReport, type VerifyFigures, verifyModel } from "inferyard/measuring";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { writeSpanModel } from "../fixtures/models/span-model.ts";
import { alteredBackend } from "./altered-backend.ts";

type Report = ModelReport<VerifyFigures>;

const verdicts = ({ targets }: Report): Record<string, string> =>
  Object.fromEntries(targets.map(({ target, verdict }) => [target, verdict]));
const checksOf = ({ targets }: Report, target: string): Record<string, string> =>
  Object.fromEntries(targets.find((each) => each.target === target)!.figures!.checks.map(({ name, verdict }) => [name, verdict]));

const noise = (values: Float32Array): Float32Array => values.map((value, index) => value * (1 + 0.02 * Math.sin(index)));

const [skip, title] = needsData("verification of models of every kind");
describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  beforeAll(async () => {
    const backends = [
      onnx(),
      native(),
      alteredBackend("wrong", noise),
      alteredBackend("right", (values) => values),
      alteredBackend("broken", (values) => values.map(() => Number.NaN)),
    ];
    runtime = await createRuntime({ backends, host: "inline", threads: 1 });
  });
  afterAll(() => runtime.dispose());

  const verify = (model: string, target?: readonly string[]): Promise<Report> =>
    verifyModel(runtime, { model: model === "builtin" ? model : `${sharedData}${model}`, target });

  it.each([
    ["marian-tiny-random", "encoder-decoder", ["onnx:cpu", "native:cpu"]],
    ["tiny-random-cross-encoder", "reranker", ["onnx:cpu", "native:cpu"]],
    ["tiny-random-clip", "tensors", ["onnx:cpu", "native:cpu"]],
    ["tiny-random-vit", "tensors", ["onnx:cpu", "native:cpu"]],
  ])("%s, of the kind %s, passes on engines that agree within the tolerance of its precision", async (model, kind, targets) => {
    const report = await verify(model, targets);
    expect([report.kind, verdicts(report)]).toEqual([kind, Object.fromEntries(targets.map((target) => [target, "pass"]))]);
    for (const target of targets) {
      expect(checksOf(report, target)).toMatchObject({
        "finite outputs": "pass",
        "same answer twice": "pass",
        "agrees with other targets": "pass",
      });
    }
  });

  it("a model that scores spans against labels passes as a token classifier", async () => {
    const folder = mkdtempSync(join(tmpdir(), "inferyard-spans-"));
    const groups = [["the"], ["a"]];
    writeSpanModel(folder, {
      tokenizerFolder: `${sharedData}tiny-random-bert`,
      groups,
      maxWidth: 4,
      maxWords: 64,
      maxTokens: 64,
    });
    const report = await verifyModel(runtime, { model: folder, target: ["onnx:cpu", "native:cpu"] });
    rmSync(folder, { recursive: true });
    expect([report.kind, verdicts(report)]).toEqual(["token-classifier", { "onnx:cpu": "pass", "native:cpu": "pass" }]);
  });

  it("builtin holds its known answers, and targets that cannot run it are skipped with the reason", async () => {
    const report = await verify("builtin");
    expect(report.kind).toBe("embedding");
    expect(checksOf(report, "native:cpu")).toMatchObject({ "known answers": "pass", "batch equals one by one": "pass" });
    expect(report.targets.find(({ target }) => target === "onnx:cpu")).toEqual({
      target: "onnx:cpu",
      verdict: "skipped",
      reason: "onnx does not run safetensors",
    });
  });

  it("what misses a known answer fails, and what holds it is right, though the only one", async () => {
    const report = await verify("builtin", ["native:cpu", "wrong:cpu"]);
    expect(verdicts(report)).toMatchObject({ "native:cpu": "pass", "wrong:cpu": "fail" });
  });

  it.each(["gguf-tiny-llama/tiny-llama-f32.gguf", "vision/mnist.onnx"])(
    "of three targets with %s, the one that the others contradict fails",
    async (model) => {
      const report = await verify(model, ["wrong:cpu", "native:cpu", "right:cpu"]);
      expect(verdicts(report)).toEqual({ "wrong:cpu": "fail", "native:cpu": "pass", "right:cpu": "pass" });
      const wrong = report.targets.find(({ target }) => target === "wrong:cpu");
      expect(wrong?.reason).toMatch(
        /agrees with other targets: \w+:cpu: largest relative error 0\.0\d+, .*the tolerance is 0\.001$/,
      );
    },
  );

  it("a target that loading finds to be wrong fails, with what was found", async () => {
    const report = await verify("vision/mnist.onnx", ["broken:cpu", "native:cpu"]);
    expect(verdicts(report)).toEqual({ "broken:cpu": "fail", "native:cpu": "pass" });
    expect(report.targets.find(({ target }) => target === "broken:cpu")?.reason).toContain("a value that is not a number");
  });

  it("of two that contradict each other nothing tells which is right: both fail", async () => {
    const report = await verify("vision/mnist.onnx", ["native:cpu", "wrong:cpu"]);
    expect(verdicts(report)).toEqual({ "native:cpu": "fail", "wrong:cpu": "fail" });
    expect(report.targets[0]?.reason).toContain("nothing tells which of the two is right");
  });

  it("a target that cannot load the model is skipped, and known answers of a model without vectors are refused", async () => {
    const report = await verify("transformer-dummies/sign_bfloat16.onnx", ["onnx:cpu", "native:cpu"]);
    expect(verdicts(report)).toEqual({ "onnx:cpu": "skipped", "native:cpu": "pass" });
    const answers = [{ text: "a", embedding: Float32Array.of(1), tolerance: 1 }];
    const model = `${sharedData}vision/mnist.onnx`;
    await expect(verifyModel(runtime, { model, answers })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});
