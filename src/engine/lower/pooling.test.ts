import fc from "fast-check";
import { expect, it } from "vitest";
import { compiled, expectSame, interpreted, interpretedSteps, oneNode } from "../../../test/engine/fixtures/run-graph.ts";
import { randomNumbers } from "../../../test/engine/kernel-memory.ts";
import { amount } from "../../../test/fixtures/slow.ts";
import { toLiteral } from "../ir/literal.ts";

const axis = fc.record({
  size: fc.integer({ min: 1, max: 20 }),
  kernel: fc.integer({ min: 1, max: 13 }),
  stride: fc.integer({ min: 1, max: 3 }),
  dilation: fc.integer({ min: 1, max: 2 }),
  pads: fc.tuple(fc.nat(6), fc.nat(6)),
});
/** Axes on which each window holds an element of the input. */
const axes = fc
  .array(
    axis.filter(
      ({ size, kernel, dilation, pads }) =>
        Math.max(...pads) < kernel && size + pads[0] + pads[1] > (kernel - 1) * dilation && Math.max(...pads) <= size,
    ),
    { minLength: 1, maxLength: 3 },
  )
  .filter((list) => list.length < 3 || list.every(({ size }) => size < 12));

it("finds the largest element of windows as the interpreter does, in one pass or by rows and columns", () => {
  let onKernels = 0;
  fc.assert(
    fc.property(
      axes,
      fc.boolean(),
      fc.constantFrom("float32", "uint8"),
      fc.integer({ min: 1, max: 3 }),
      (list, ceil, type, splits) => {
        const shape = [2, 3, ...list.map(({ size }) => size)];
        const count = shape.reduce((all, one) => all * one, 1);
        const numbers = randomNumbers(count, 1).map((value) => Math.floor(value * 100));
        const x = toLiteral(type, shape, type === "uint8" ? numbers.map(Math.abs) : numbers);
        const { graph: whole, inputs } = oneNode(
          {
            kind: "max-pool",
            kernel: list.map(({ kernel }) => kernel),
            strides: list.map(({ stride }) => stride),
            dilations: list.map(({ dilation }) => dilation),
            pads: [...list.map(({ pads }) => pads[0]), ...list.map(({ pads }) => pads[1])],
            ceil,
            columnMajor: false,
          },
          [x],
        );
        const graph = { ...whole, outputs: whole.outputs.slice(0, 1) }; // positions are computed by the interpreter
        if (interpretedSteps(graph).length === 0) onKernels += 1;
        expectSame(compiled(graph, inputs, splits), interpreted(graph, inputs), {});
      },
    ),
    { numRuns: amount(500, 60) },
  );
  expect(onKernels).toBeGreaterThan(amount(300, 30));
});
