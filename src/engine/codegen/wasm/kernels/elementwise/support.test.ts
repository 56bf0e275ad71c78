/** What a kernel says it supports must be what the generator can write. */
import { describe, expect, it } from "vitest";
import { InferyardError } from "../../../../../contract/errors.ts";
import { assembleKernels } from "../../compile.ts";
import { elementwise } from "./elementwise.ts";
import type { Binary, ElementwiseRequest, ElementwiseType, Step, Unary } from "./request.ts";
import { supportsElementwise } from "./support.ts";

const types = ["float32", "float16", "float64", "int32", "uint32", "int64", "uint16", "int16", "uint8", "int8", "bool"] as const;
const unary: readonly Unary[] = [
  ...(["abs", "neg", "sign", "sqrt", "reciprocal", "floor", "ceil", "round", "exp", "log", "sin", "cos", "erf", "not"] as const),
  ...(["relu", "gelu", "gelu-tanh", "silu", "sigmoid", "tanh", "tan", "asin", "acos", "atan", "sinh", "bitwise-not"] as const),
  ...(["cosh", "asinh", "acosh", "atanh", "log1p"] as const),
];
const binary: readonly Binary[] = [
  ...(["add", "sub", "mul", "div", "min", "max", "pow", "mod", "remainder", "and", "or", "xor"] as const),
  ...(["bitwise-and", "bitwise-or", "bitwise-xor", "shift-left", "shift-right"] as const),
  ...(["equal", "not-equal", "less", "less-or-equal", "greater", "greater-or-equal"] as const),
];

function canGenerate(request: ElementwiseRequest): boolean {
  try {
    assembleKernels([elementwise(request)], { features: { simd: true, relaxedSimd: false, byteDot: "none" }, shared: false });
    return true;
  } catch (error) {
    if (error instanceof InferyardError && error.code === "CONTRACT_VIOLATION") return false;
    throw error;
  }
}

function expectAgreement(inputs: readonly ElementwiseType[], step: Step, output: ElementwiseType): boolean {
  const request = { shape: [4], inputs: inputs.map((type) => ({ type })), steps: [step], output };
  const isSupported = supportsElementwise(request);
  expect(isSupported, JSON.stringify([inputs, step, output])).toBe(canGenerate(request));
  return isSupported;
}

describe("supportsElementwise", () => {
  it("agrees with the generator for every operation on every type", () => {
    let supported = 0;
    for (const type of types) {
      for (const op of unary) supported += Number(expectAgreement([type], { op, of: [0] }, type));
      for (const op of binary)
        for (const output of [type, "bool"] as const)
          supported += Number(expectAgreement([type, type], { op, of: [0, 1] }, output));
    }
    expect(supported).toBeGreaterThan(200);
  });

  it("agrees with the generator for casts, selections and operands of different types", () => {
    for (const from of types)
      for (const to of types) {
        expectAgreement([from], { op: "cast", of: [0], to }, to);
        expectAgreement([from], { op: "cast", of: [0], to }, "float32");
        expectAgreement([from, to], { op: "add", of: [0, 1] }, to);
        expectAgreement(["bool", from, to], { op: "select", of: [0, 1, 2] }, to);
        expectAgreement([from, to, to], { op: "select", of: [0, 1, 2] }, to);
      }
  });

  it("refuses a step that names a value which is not there yet", () => {
    expect(expectAgreement(["float32"], { op: "neg", of: [3] }, "float32")).toBe(false);
  });
});
