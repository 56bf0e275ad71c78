import fc from "fast-check";
import { describe, it } from "vitest";
import { expectOnKernels } from "../../../test/engine/fixtures/run-graph.ts";
import { randomFloats, randomNumbers } from "../../../test/engine/kernel-memory.ts";
import { type Literal, toLiteral } from "../ir/literal.ts";

const size = (max: number) => fc.integer({ min: 1, max });
const count = (shape: readonly number[]) => shape.reduce((all, one) => all * one, 1);

function floats(shape: readonly number[], seed: number): Literal {
  return { dataType: "float32", shape, data: randomFloats(count(shape), seed) };
}

/** Large enough that sums wrap around. */
function wholes(shape: readonly number[], seed: number): Literal {
  return toLiteral(
    "int32",
    shape,
    randomNumbers(count(shape), seed).map((value) => Math.floor((value - 0.5) * 2 ** 26)),
  );
}

describe("products of matrices", () => {
  it("are those of the interpreter where one operand has fewer axes, in float32 and in int32", () => {
    const batches = fc.constantFrom<[number[], number[]]>([[], [3]], [[2, 3], []], [[2, 1], [3]], [[2], [2]], [[], []]);
    fc.assert(
      fc.property(batches, size(20), size(19), size(9), fc.boolean(), size(3), ([one, other], m, n, k, whole, splits) => {
        if (!whole && one.length === other.length) return; // a pass makes another operation of these
        const make = whole ? wholes : floats;
        const operands = [make([...one, m, k], 1), make([...other, k, n], 2)];
        expectOnKernels({ kind: "matmul" }, operands, { splits, tolerance: whole ? 0 : 1e-5 });
      }),
    );
  });
});
