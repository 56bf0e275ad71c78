import fc from "fast-check";
import { expect, it } from "vitest";
import { compiled, expectSame, interpreted, interpretedSteps, oneNode } from "../../../test/engine/fixtures/run-graph.ts";
import { randomNumbers } from "../../../test/engine/kernel-memory.ts";
import { amount } from "../../../test/fixtures/slow.ts";
import { toLiteral } from "../ir/literal.ts";

const axis = fc.record({ size: fc.integer({ min: 2, max: 9 }), before: fc.nat(9), after: fc.nat(9) });
const cases = fc.record({
  axes: fc.array(axis, { minLength: 1, maxLength: 3 }),
  mode: fc.constantFrom("constant", "reflect", "edge", "wrap"),
  type: fc.constantFrom("float32", "int64", "uint8", "float16"),
});

it("pads as the interpreter does, in every mode and type", () => {
  let onKernels = 0;
  fc.assert(
    fc.property(cases, fc.integer({ min: 1, max: 3 }), ({ axes, mode, type }, splits) => {
      const shape = axes.map(({ size }) => size);
      const [before, after] = [axes.map((each) => each.before), axes.map((each) => each.after)];
      const count = shape.reduce((all, one) => all * one, 1);
      const x = toLiteral(
        type,
        shape,
        randomNumbers(count, 1).map((value) => Math.floor(value * 100)),
      );
      const { graph, inputs } = oneNode(
        { kind: "pad", mode, before, after },
        mode === "constant" ? [x, toLiteral(type, [], [7])] : [x],
      );
      if (interpretedSteps(graph).length === 0) onKernels += 1;
      expectSame(compiled(graph, inputs, splits), interpreted(graph, inputs), {});
    }),
    { numRuns: amount(300, 60) },
  );
  expect(onKernels).toBeGreaterThan(amount(100, 10));
});
