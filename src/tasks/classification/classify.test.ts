import { describe, expect, it } from "vitest";
import type { Manifest } from "../../models/manifest.ts";
import { applyActivation, getLabelHead, logitsOutput } from "../encoding/label-head.ts";

const manifest = (config: object): Manifest => ({ name: "m", variants: [{ config }] }) as unknown as Manifest;
const two = { id2label: { 0: "no", 1: "yes" } };

describe("the head of a classifier", () => {
  it.each([
    ["two labels", two, "softmax"],
    ["one label", { id2label: { 0: "LABEL_0" } }, "sigmoid"],
    ["several labels at once", { ...two, problem_type: "multi_label_classification" }, "sigmoid"],
    ["one of several labels", { ...two, problem_type: "single_label_classification" }, "softmax"],
    ["a number", { id2label: { 0: "LABEL_0" }, problem_type: "regression" }, "none"],
    ["what it says itself", { ...two, problem_type: "another", function_to_apply: "sigmoid" }, "sigmoid"],
  ])("%s: scores are made as transformers makes them", (_name, config, activation) => {
    expect(getLabelHead(manifest(config)).activation).toBe(activation);
  });

  it("has its labels in the order of the outputs, and transformers' names where only their number is known", () => {
    expect(getLabelHead(manifest({ id2label: { 1: "b", 0: "a" } })).labels).toEqual(["a", "b"]);
    expect(getLabelHead(manifest({ num_labels: 2 })).labels).toEqual(["LABEL_0", "LABEL_1"]);
  });

  it.each([{}, { id2label: {} }, { id2label: { 0: 7 } }, { id2label: { 5: "gap" } }, { num_labels: 1e9 }])(
    "%j names no labels, and none are made up",
    (config) => expect(() => getLabelHead(manifest(config))).toThrow(/does not state its labels/),
  );
});

describe("scores", () => {
  it("softmax shares 1 among the labels, however large the logits", () => {
    expect(Array.from(applyActivation(Float32Array.of(1000, 1000), "softmax"))).toEqual([0.5, 0.5]);
    const scores = applyActivation(Float32Array.of(1, 2, 3), "softmax");
    expect(scores[0]).toBeCloseTo(0.09003057, 7); // e / (e + e^2 + e^3)
    expect(scores[2]).toBeCloseTo(0.66524096, 7);
  });

  it("sigmoid takes each label by itself; none gives the logits", () => {
    expect(applyActivation(Float32Array.of(2), "sigmoid")[0]).toBeCloseTo(0.88079708, 7);
    expect(Array.from(applyActivation(Float32Array.of(2, -3), "none"))).toEqual([2, -3]);
  });
});

describe("the output with the logits", () => {
  const info = (name: string, shape: readonly (number | string)[]) => ({ name, dataType: "float32" as const, shape });
  it("is the one of that name, else the only one of that rank", () => {
    expect(logitsOutput([info("x", ["batch", 3]), info("logits", ["batch", 3])], 2)).toBe("logits");
    expect(logitsOutput([info("scores", ["batch", 3])], 2)).toBe("scores");
    expect(logitsOutput([info("h", ["b", "s", 4]), info("p", ["b", 3])], 3)).toBe("h");
  });
  it("is refused where two could be it, or none", () => {
    expect(() => logitsOutput([info("a", ["b", 3]), info("b", ["b", 3])], 2)).toThrow(/holds logits; it has a \[b, 3\], b/);
    expect(() => logitsOutput([info("a", ["b", "s", 3])], 2)).toThrow(/holds logits/);
  });
});
