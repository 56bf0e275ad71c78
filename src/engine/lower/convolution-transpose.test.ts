import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomFloats } from "../../../test/engine/kernel-memory.ts";
import { compiled, expectSame, interpreted, interpretedSteps, type Results } from "../../../test/engine/fixtures/run-graph.ts";
import { amount } from "../../../test/fixtures/slow.ts";
import type { Graph, Value } from "../ir/graph.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import type { OperationOf } from "../ir/operations.ts";

const size = (max: number) => fc.integer({ min: 1, max });

interface Case {
  readonly operation: OperationOf<"convolution-transpose">;
  readonly x: readonly number[];
  readonly weights: readonly number[];
  readonly bias: boolean;
  readonly known: boolean;
}

const axis = fc.record({
  size: size(11),
  kernel: size(6),
  stride: fc.constantFrom(1, 1, 2, 3, 4, 5, 8),
  dilation: fc.constantFrom(1, 1, 2, 3),
  before: fc.nat(4),
  after: fc.nat(4),
  output: fc.nat(2),
});
const cases = fc
  .record({
    axes: fc.array(axis, { minLength: 1, maxLength: 3 }),
    batch: size(2),
    groups: size(3),
    channels: size(5),
    outputs: size(5),
    bias: fc.boolean(),
    known: fc.boolean(),
    activation: fc.constantFrom("none", "relu", "tanh"),
  })
  .map(({ axes: drawn, batch, groups, channels, outputs, bias, known, activation }): Case => {
    // The interpreter is slow: three axes are short ones.
    const few = (each: (typeof drawn)[number]) => ({ ...each, size: Math.min(each.size, 3), stride: Math.min(each.stride, 3) });
    const axes = drawn.length < 3 ? drawn : drawn.map(few);
    const of = (name: keyof (typeof axes)[number]) => axes.map((each) => each[name]);
    return {
      operation: {
        kind: "convolution-transpose",
        groups,
        strides: of("stride"),
        dilations: of("dilation"),
        pads: [...of("before"), ...of("after")],
        outputPads: axes.map(({ output, stride }) => Math.min(output, stride - 1)),
        activation,
      },
      x: [batch, groups * channels, ...of("size")],
      weights: [groups * channels, outputs, ...of("kernel")],
      bias,
      known,
    };
  })
  .filter(
    (given) =>
      shapeOf(given)
        ?.slice(2)
        .every((length) => length > 0) === true,
  );

function shapeOf({ operation, x, weights }: Case): readonly number[] | undefined {
  try {
    return inferTypes(
      operation,
      [x, weights].map((shape) => ({ dataType: "float32", shape })),
    )[0]?.shape;
  } catch {
    return undefined;
  }
}

function graphOf(given: Case): { readonly graph: Graph; readonly inputs: Results } {
  const literal = (shape: readonly number[], seed: number) => {
    const count = shape.reduce((all, one) => all * one, 1);
    return { dataType: "float32", shape, data: randomFloats(count, seed) } as const;
  };
  const [outputs = 1] = given.weights.slice(1);
  const literals = [literal(given.x, 1), literal(given.weights, 2), literal([outputs * given.operation.groups], 3)] as const;
  const value = (index: 0 | 1 | 2, known: boolean): Value => {
    const type = { dataType: "float32", shape: literals[index].shape } as const;
    return known ? { type, constant: literals[index] } : { type };
  };
  const operands = [value(0, false), value(1, given.known), ...(given.bias ? [value(2, given.known)] : [])];
  const y: Value = { type: { dataType: "float32", shape: shapeOf(given)! } };
  const names = ["x", "weights", "bias"];
  const free = given.known ? operands.slice(0, 1) : operands;
  return {
    graph: {
      inputs: free.map((each, index) => ({ name: names[index]!, value: each })),
      nodes: [{ operation: given.operation, inputs: operands, outputs: [y] }],
      outputs: [{ name: "y", value: y }],
    },
    inputs: Object.fromEntries(free.map((_, index) => [names[index]!, literals[index as 0 | 1 | 2]])),
  };
}

describe("transposed convolution", () => {
  it("equals the interpreter for any strides, dilations, pads and groups, in any number of calls", () => {
    let onKernels = 0;
    fc.assert(
      fc.property(cases, size(4), (given, splits) => {
        const { graph, inputs } = graphOf(given);
        if (interpretedSteps(graph).length === 0) onKernels += 1;
        expectSame(compiled(graph, inputs, splits), interpreted(graph, inputs), { y: 1e-4 });
      }),
      { numRuns: amount(200, 40) },
    );
    expect(onKernels).toBeGreaterThan(amount(120, 10));
  });

  const vocoder: Case = {
    operation: {
      kind: "convolution-transpose",
      groups: 1,
      strides: [8],
      dilations: [1],
      pads: [4, 4],
      outputPads: [0],
    },
    x: [1, 6, 37],
    weights: [6, 5, 16],
    bias: true,
    known: true,
  };

  it("is computed by kernels in the shapes that models have", () => {
    const steps = (given: Case) => interpretedSteps(graphOf(given).graph);
    expect(steps(vocoder)).toEqual([]);
    expect(steps({ ...vocoder, known: false, bias: false })).toEqual([]);
    const twice = { ...vocoder.operation, strides: [2, 2], dilations: [1, 1], pads: [0, 0, 0, 0], outputPads: [0, 0] };
    expect(steps({ ...vocoder, operation: twice, x: [1, 6, 9, 9], weights: [6, 3, 2, 2] })).toEqual([]);
    const spectrum = { ...vocoder.operation, strides: [64], pads: [128, 128] };
    const inverse = { ...vocoder, operation: spectrum, x: [1, 18, 9], weights: [18, 1, 256] };
    expect(steps(inverse)).toEqual([]);
    const { graph, inputs } = graphOf(inverse);
    expectSame(compiled(graph, inputs, 3), interpreted(graph, inputs), { y: 1e-4 });
  });

  it("leaves to the interpreter what would be mostly zeros", () => {
    const sparse = { ...vocoder.operation, strides: [1000], pads: [0, 0] };
    expect(interpretedSteps(graphOf({ ...vocoder, operation: sparse }).graph)).toEqual(["convolution-transpose"]);
  });
});
