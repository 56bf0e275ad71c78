import { describe, expect, it } from "vitest";
import { compareOutputs } from "./compare-outputs.ts";
import { compareTargets } from "./compare-targets.ts";
import { unmetTargets } from "./target-report.ts";
import type { TargetCheck, TestedTarget } from "./test-target.ts";

const outputsOf = (...values: number[]): TestedTarget["outputs"] => [{ name: "y", values: Float32Array.from(values) }];
const check = (name: string, verdict: TargetCheck["verdict"]): TargetCheck => ({ name, verdict, detail: "" });

function tested(target: string, values: readonly number[], over: Partial<TestedTarget> = {}): TestedTarget {
  const outputs = outputsOf(...values);
  const unaffected = check("together", "pass");
  return {
    target,
    variant: "fp32",
    weights: "a",
    precision: "fp32",
    outputs,
    together: outputs,
    checks: [check("own", "pass")],
    unaffected,
    hasAnswers: false,
    evidence: [],
    ...over,
  };
}

/** By target, the verdict of the last check, and the verdict of the check that compares batched and single inputs. */
const judge = (...targets: TestedTarget[]): Record<string, string> =>
  Object.fromEntries([...compareTargets(targets)].map(([target, checks]) => [target, checks.at(-1)!.verdict]));

describe("targets of one model", () => {
  it("agree, alone, with what most of them compute", () => {
    expect(judge(tested("a", [1, 2]), tested("b", [1, 2.0001]), tested("c", [1, 3]))).toEqual({
      a: "pass",
      b: "pass",
      c: "fail",
    });
    expect(judge(tested("a", [1, 3]), tested("b", [1, 2]), tested("c", [1, 2]))).toEqual({ a: "fail", b: "pass", c: "pass" });
    expect(judge(tested("a", [1, 2]))).toEqual({ a: "skipped" });
  });

  it("fail both where only two of them contradict each other, unless one holds known answers", () => {
    expect(judge(tested("a", [1, 2]), tested("b", [1, 3]))).toEqual({ a: "fail", b: "fail" });
    expect(judge(tested("a", [1, 2]), tested("b", [1, 3], { hasAnswers: true }))).toEqual({ a: "fail", b: "pass" });
  });

  it("are not held to one that fails its own checks", () => {
    const broken = { checks: [check("own", "fail")] };
    expect(judge(tested("a", [1, 2], broken), tested("b", [1, 3]), tested("c", [1, 3]))).toEqual({
      a: "fail",
      b: "pass",
      c: "pass",
    });
    expect(judge(tested("a", [1, 2], broken), tested("b", [1, 3]))).toEqual({ a: "fail", b: "skipped" });
  });

  it("are compared where they computed with the same weights, by the tolerance of these", () => {
    expect(judge(tested("a", [1, 2]), tested("b", [1, 3], { weights: "b" }))).toEqual({ a: "skipped", b: "skipped" });
    const int8 = { precision: "int8" } as const;
    expect(judge(tested("a", [1, 2], int8), tested("b", [1, 2.2], int8))).toEqual({ a: "pass", b: "pass" });
  });

  it("are not blamed for a graph that mixes inputs, where all of them compute it so", () => {
    const mixed = (target: string, ...values: number[]): TestedTarget =>
      tested(target, [1, 2], { together: outputsOf(...values), unaffected: check("together", "fail") });
    const verdicts = (...targets: TestedTarget[]): (string | undefined)[] =>
      [...compareTargets(targets).values()].map((checks) => checks.find(({ name }) => name === "together")?.verdict);
    expect(verdicts(mixed("a", 5, 6), mixed("b", 5, 6))).toEqual(["skipped", "skipped"]);
    expect(verdicts(mixed("a", 5, 6), mixed("b", 6, 5))).toEqual(["fail", "fail"]);
    expect(verdicts(mixed("a", 5, 6), tested("b", [1, 2]))).toEqual(["fail", "pass"]);
    expect(verdicts(mixed("a", 5, 6))).toEqual(["fail"]);
  });
});

describe("the difference of outputs", () => {
  it("is relative to the longer vector: 0.1 of 1; zeros are equal, and other sizes are not", () => {
    expect(compareOutputs(outputsOf(0, 1), outputsOf(0, 0.9)).relativeError).toBeCloseTo(0.1);
    expect(compareOutputs(outputsOf(0, 0), outputsOf(0, 0))).toMatchObject({ relativeError: 0, cosine: 1 });
    expect(compareOutputs(outputsOf(0, 0), outputsOf(0, 1)).relativeError).toBe(1);
    expect(compareOutputs(outputsOf(1), outputsOf(1, 2)).relativeError).toBe(Number.POSITIVE_INFINITY);
    expect(compareOutputs(outputsOf(1), []).relativeError).toBe(Number.POSITIVE_INFINITY);
    expect(compareOutputs(outputsOf(1), outputsOf(Number.NaN)).relativeError).toBeNaN();
  });
});

describe("targets that were asked for", () => {
  const targets = [
    { target: "onnx:cpu", verdict: "pass" },
    { target: "onnx:cuda", verdict: "skipped" },
    { target: "wasm:cpu", verdict: "skipped" },
  ] as const;
  const unmet = (named?: readonly string[]): string[] => unmetTargets({ targets }, named).map(({ target }) => target);

  it("are all that can run the model, or each one that is named, on a device of it", () => {
    expect(unmet()).toEqual([]);
    expect(unmet(["onnx"])).toEqual([]);
    expect(unmet(["onnx:cuda"])).toEqual(["onnx:cuda"]);
    expect(unmet(["onnx", "wasm"])).toEqual(["wasm:cpu"]);
    expect(unmetTargets({ targets: targets.slice(1) }, undefined)).toHaveLength(2);
    expect(unmetTargets({ targets: [...targets, { target: "native:cpu", verdict: "fail" }] }, undefined)).toHaveLength(1);
  });
});
