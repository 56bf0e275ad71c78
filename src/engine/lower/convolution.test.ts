import fc from "fast-check";
import { describe, it } from "vitest";
import { expectOnKernels } from "../../../test/engine/fixtures/run-graph.ts";
import { randomFloats, randomNumbers } from "../../../test/engine/kernel-memory.ts";
import { amount } from "../../../test/fixtures/slow.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import { type Literal, toLiteral } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";

const size = (max: number) => fc.integer({ min: 1, max });
const count = (shape: readonly number[]) => shape.reduce((all, one) => all * one, 1);
const axis = fc.record({
  size: size(9),
  kernel: size(4),
  stride: size(3),
  dilation: size(2),
  before: fc.nat(2),
  after: fc.nat(2),
});
const axes = fc.array(axis, { minLength: 1, maxLength: 3 });

type Axes = readonly { size: number; kernel: number; stride: number; dilation: number; before: number; after: number }[];

function windowOf(given: Axes) {
  return {
    strides: given.map(({ stride }) => stride),
    dilations: given.map(({ dilation }) => dilation),
    pads: [...given.map(({ before }) => before), ...given.map(({ after }) => after)],
  };
}

function floats(shape: readonly number[], seed: number): Literal {
  return { dataType: "float32", shape, data: randomFloats(count(shape), seed) };
}

function wholes(dataType: "int32" | "uint8" | "int8", shape: readonly number[], seed: number): Literal {
  return toLiteral(
    dataType,
    shape,
    randomNumbers(count(shape), seed).map((value) => Math.floor(value * 511) - 255),
  );
}

/** Whether the window fits. */
function isSound(operation: Operation, operands: readonly Literal[]): boolean {
  try {
    return inferTypes(
      operation,
      operands.map(({ dataType, shape }) => ({ dataType, shape })),
    ).every(({ shape }) => count(shape) > 0);
  } catch {
    return false;
  }
}

describe("windows over one to three axes", () => {
  it("are convolved as the interpreter does, whole numbers exactly", () => {
    const channels = fc.record({ batch: size(2), groups: size(4), inputs: size(3), outputs: size(6), bias: fc.boolean() });
    fc.assert(
      fc.property(axes, channels, fc.boolean(), size(4), (given, { batch, groups, inputs, outputs, bias }, whole, splits) => {
        const shape = [batch, groups * inputs, ...given.map((each) => each.size)];
        const kernel = [groups * outputs, inputs, ...given.map((each) => each.kernel)];
        const make = (of: readonly number[], seed: number) => (whole ? wholes("int32", of, seed) : floats(of, seed));
        const operands = [make(shape, 1), make(kernel, 2), ...(bias ? [make([groups * outputs], 3)] : [])];
        const activation = whole ? {} : { activation: "relu" as const };
        const operation: Operation = { kind: "convolution", groups, ...windowOf(given), ...activation };
        if (!isSound(operation, operands)) return;
        expectOnKernels(operation, operands, { splits, tolerance: whole ? 0 : 1e-4 });
      }),
      { numRuns: amount(200, 50) },
    );
  });

  it("are convolved channel by channel in whole numbers", () => {
    const window = { strides: [2, 1], dilations: [1, 1], pads: [1, 1, 1, 1] };
    const operands = [wholes("int32", [2, 7, 9, 11], 1), wholes("int32", [7, 1, 3, 3], 2)];
    expectOnKernels({ kind: "convolution", groups: 7, ...window }, operands, { splits: 3 });
  });

  it("are pooled as the interpreter does", () => {
    const options = fc.record({ ceil: fc.boolean(), countPadding: fc.boolean(), max: fc.boolean() });
    fc.assert(
      fc.property(axes, options, size(4), (given, { ceil, countPadding, max }, splits) => {
        const all = given.map((each) => ({
          ...each,
          dilation: each.before + each.after === 0 ? each.dilation : 1, // no window sees padding alone
          before: Math.min(each.before, each.kernel - 1),
          after: Math.min(each.after, each.kernel - 1),
        }));
        const x = floats([2, 3, ...all.map((each) => each.size)], 1);
        const common = { kernel: all.map(({ kernel }) => kernel), ceil, ...windowOf(all) };
        const operation: Operation = max
          ? { kind: "max-pool", columnMajor: false, ...common }
          : { kind: "average-pool", countPadding, ...common };
        if (!isSound(operation, [x])) return;
        expectPooled(operation, x, splits);
      }),
      { numRuns: amount(200, 50) },
    );
  });

  it("are pooled in bytes", () => {
    const common = { kernel: [2, 3], ceil: false, columnMajor: false, strides: [2, 1], dilations: [1, 1], pads: [0, 1, 0, 1] };
    for (const type of ["uint8", "int8"] as const)
      expectPooled({ kind: "max-pool", ...common }, wholes(type, [1, 3, 7, 9], 1), 2);
    const three = { ...common, kernel: [2, 2, 2], strides: [1, 2, 2], dilations: [1, 1, 1], pads: [0, 0, 0, 0, 0, 0] };
    expectPooled({ kind: "max-pool", ...three }, wholes("uint8", [1, 3, 5, 7, 9], 1), 2);
  });
});

/** Nobody asks for the places of the largest, which the interpreter alone tells. */
function expectPooled(operation: Operation, x: Literal, splits: number): void {
  expectOnKernels(operation, [x], { splits, tolerance: operation.kind === "max-pool" ? 0 : 1e-5, outputs: 1 });
}
