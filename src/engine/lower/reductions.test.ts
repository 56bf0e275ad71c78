import fc from "fast-check";
import { describe, it } from "vitest";
import { expectOnKernels } from "../../../test/engine/fixtures/run-graph.ts";
import { randomFloats, randomNumbers } from "../../../test/engine/kernel-memory.ts";
import { amount } from "../../../test/fixtures/slow.ts";
import { type Literal, toLiteral } from "../ir/literal.ts";

const size = (max: number) => fc.integer({ min: 1, max });
const count = (shape: readonly number[]) => shape.reduce((all, one) => all * one, 1);
const shapes = fc.array(fc.oneof(size(4), size(23)), { minLength: 1, maxLength: 3 });
const numeric = fc.constantFrom("float32", "int32", "int64");

/** Many of them equal. */
function wholes(dataType: Literal["dataType"], shape: readonly number[], seed: number): Literal {
  return toLiteral(
    dataType,
    shape,
    randomNumbers(count(shape), seed).map((value) => Math.floor(value * 7) - 3),
  );
}

function floats(shape: readonly number[], seed: number, scale = 1): Literal {
  return { dataType: "float32", shape, data: randomFloats(count(shape), seed, scale) };
}

describe("operations along any axis", () => {
  it("running sums and products are those of the interpreter to the bit", () => {
    const options = fc.record({ exclusive: fc.boolean(), reverse: fc.boolean(), function: fc.constantFrom("sum", "product") });
    fc.assert(
      fc.property(shapes, fc.nat(2), numeric, options, size(4), fc.nat(99), (shape, at, type, option, splits, seed) => {
        const x = type === "float32" ? floats(shape, seed, 2) : wholes(type, shape, seed);
        expectOnKernels({ kind: "cumulative", axis: at % shape.length, ...option }, [x], { splits });
      }),
      { numRuns: amount(100, 30) },
    );
  });

  it("top-k gives the interpreter's order: equal elements by position, NaN first", () => {
    fc.assert(
      fc.property(shapes, fc.nat(2), numeric, fc.boolean(), size(4), fc.nat(99), (shape, at, type, largest, splits, seed) => {
        const axis = at % shape.length;
        const x = wholes(type, shape, seed);
        if (type === "float32" && seed % 3 === 0) {
          const data = x.data as Float32Array;
          [Number.NaN, -0, Infinity, -Infinity].forEach((value, place) => (data[(seed + place * 3) % data.length] = value));
        }
        const max = 1 + (seed % shape[axis]!);
        expectOnKernels({ kind: "top-k", axis, count: max, largest }, [x], { splits });
      }),
      { numRuns: amount(200, 50) },
    );
  });

  it("the best of a long row are found wherever they stand", () => {
    for (const largest of [true, false])
      for (const [length, max] of [
        [5000, 50],
        [1003, 1003],
        [77, 1],
      ] as const)
        expectOnKernels({ kind: "top-k", axis: 1, count: max, largest }, [floats([2, length], max)], { splits: 2 });
  });

  it("softmax goes along any axis", () => {
    fc.assert(
      fc.property(shapes, fc.nat(2), fc.boolean(), size(4), fc.nat(99), (shape, at, logarithm, splits, seed) => {
        const operation = { kind: "softmax", axis: at % shape.length, logarithm } as const;
        expectOnKernels(operation, [floats(shape, seed, 20)], { splits, tolerance: 1e-5 });
      }),
      { numRuns: amount(100, 30) },
    );
  });

  it("axes are reduced wherever they stand", () => {
    const four = fc.array(size(5), { minLength: 1, maxLength: 4 });
    const functions = fc.constantFrom("sum", "product", "min", "max", "mean");
    fc.assert(
      fc.property(four, fc.nat(15), numeric, functions, fc.boolean(), size(3), (shape, mask, type, name, keep, splits) => {
        const chosen = shape.map((_, axis) => axis).filter((axis) => (mask >> axis) % 2 === 1);
        const axes = chosen.length === 0 ? [0] : chosen;
        const x = type === "float32" ? floats(shape, mask) : wholes(type, shape, mask);
        const own = name === "mean" && type !== "float32" ? "sum" : name;
        expectOnKernels({ kind: "reduce", function: own, axes, keep }, [x], { splits, tolerance: type === "float32" ? 1e-4 : 0 });
      }),
      { numRuns: amount(100, 30) },
    );
  });
});
