import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KernelMemory, featureSets, largestError, randomFloats } from "../../../../../../test/engine/kernel-memory.ts";
import { amount } from "../../../../../../test/fixtures/slow.ts";
import type { Kernel } from "../../kernel.ts";
import { argReduce } from "./arg-reduce.ts";
import { type NormRequest, norm } from "./norm.ts";
import { type Reduction, reduce } from "./reduce.ts";
import { type SoftmaxRequest, softmax } from "./softmax.ts";

type Arrays = Readonly<Record<string, Float32Array | Int32Array>>;

/** Runs a kernel in one call and in several, demands the same bits, and gives its outputs by name. */
function outputs(kernel: Kernel, arrays: Arrays, splits: number, set = featureSets[0]!): Arrays {
  const results = [1, splits].map((calls) => {
    const memory = new KernelMemory(256 * 1024);
    const put = Object.entries(arrays).map(([name, values]) => [name, memory.put(values)] as const);
    const places = new Map(put);
    memory.run(
      kernel,
      kernel.parameters.map((name) => places.get(name)!.offset),
      calls,
      set,
    );
    return Object.fromEntries(put.map(([name, { data }]) => [name, data.slice()]));
  });
  expect(results[1]).toEqual(results[0]);
  return results[0]!;
}

const size = (max: number) => fc.integer({ min: 1, max });
const sets = fc.constantFrom(...featureSets);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const rowsOf = (values: Float32Array, columns: number) =>
  Array.from({ length: values.length / columns }, (_, row) => [...values.subarray(row * columns, (row + 1) * columns)]);

describe("softmax", () => {
  const softmaxOf = (row: readonly number[], logarithm: boolean) => {
    const max = Math.max(...row);
    const sum = row.reduce((all, x) => all + Math.exp(x - max), 0);
    return row.map((x) => (logarithm ? x - max - Math.log(sum) : Math.exp(x - max) / sum));
  };

  it("gives masked elements the probability 0, not a subnormal number", () => {
    const mask = Float32Array.of(0, 0, 0, -3.4e38, Number.NEGATIVE_INFINITY, -88);
    for (const set of featureSets) {
      const kernel = softmax({ shape: [1, 6], maskStrides: [0, 1] });
      const { y } = outputs(kernel, { x: Float32Array.of(1, 2, 3, 4, 5, 3), mask, y: new Float32Array(6) }, 1, set);
      expect(y!.slice(3)).toEqual(Float32Array.of(0, 0, 0));
    }
  });

  it("equals the definition, with a mask", () => {
    fc.assert(
      fc.property(
        fc.array(size(5), { maxLength: 3 }),
        size(40),
        fc.record({ logarithm: fc.boolean() }),
        fc.option(fc.array(fc.boolean(), { minLength: 4, maxLength: 4 })),
        size(3),
        sets,
        (rowShape, columns, options, masked, splits, set) => {
          const shape = [...rowShape, columns];
          const rows = rowShape.reduce((all, one) => all * one, 1);
          const x = randomFloats(rows * columns, 1, 20);
          const strides = shape.map((_, axis) => {
            const own = masked?.[axis] === true;
            const step = shape.slice(axis + 1).reduce((all, one) => all * one, 1);
            return own ? (axis === shape.length - 1 ? 1 : step) : 0;
          });
          const mask = randomFloats(rows * columns, 2, 5).map((value) => (value > 3 ? -Infinity : value));
          const maskAt = (row: number, column: number) => {
            let [rest, place] = [row, column * strides.at(-1)!];
            for (let axis = rowShape.length - 1; axis >= 0; axis -= 1) {
              place += (rest % rowShape[axis]!) * strides[axis]!;
              rest = Math.floor(rest / rowShape[axis]!);
            }
            return mask[place]!;
          };
          const request: SoftmaxRequest = { shape, ...options, ...(masked === null ? {} : { maskStrides: strides }) };
          const inputs = rowsOf(x, columns).map((row, r) => row.map((value, c) => value + (masked === null ? 0 : maskAt(r, c))));
          const wanted = inputs.flatMap((row) =>
            row.every((value) => value === -Infinity) ? row.map(() => NaN) : softmaxOf(row, options.logarithm),
          );
          const { y } = outputs(softmax(request), { x, mask, y: new Float32Array(x.length) }, splits, set);
          expect(largestError(y as Float32Array, wanted)).toBeLessThan(4e-6);
        },
      ),
      { numRuns: amount(120, 30) },
    );
  });

  it("takes numbers of any size", () => {
    const x = Float32Array.of(1000, 999, -1000, 3e38, 0, 1);
    const { y } = outputs(softmax({ shape: [2, 3] }), { x, y: new Float32Array(6) }, 2);
    expect(largestError(y as Float32Array, [...softmaxOf([1000, 999, -1000], false), 1, 0, 0])).toBeLessThan(1e-6);
  });
});

describe("norm", () => {
  const requests = fc.record<NormRequest>({
    rows: size(7),
    columns: size(50),
    epsilon: fc.constantFrom(1e-5, 1e-12),
    gamma: fc.boolean(),
    beta: fc.boolean(),
  });

  it("equals the definition", () => {
    fc.assert(
      fc.property(requests, size(3), sets, (request, splits, set) => {
        const { rows, columns, epsilon } = request;
        const x = randomFloats(rows * columns, 1).map((value) => value + 3);
        const [gamma, beta] = [3, 4].map((seed) => randomFloats(columns, seed));
        const arrays = { x, gamma: gamma!, beta: beta! };
        const wanted = rowsOf(x, columns).flatMap((row) => {
          const centre = mean(row);
          const factor = 1 / Math.sqrt(mean(row.map((value) => (value - centre) ** 2)) + epsilon);
          return row.map(
            (value, c) =>
              (value - centre) * factor * (request.gamma === true ? gamma![c]! : 1) + (request.beta === true ? beta![c]! : 0),
          );
        });
        const { y } = outputs(norm(request), { ...arrays, y: new Float32Array(x.length) }, splits, set);
        // One column alone is its own mean: what is left is the rounding of the sum, magnified by 1 / sqrt(epsilon).
        expect(columns > 2 ? largestError(y as Float32Array, wanted) : 0).toBeLessThan(2e-5);
      }),
      { numRuns: amount(150, 38) },
    );
  });

  it("loses no digits where the mean is large", () => {
    const x = Float32Array.of(10_001, 10_002, 10_003, 10_004);
    const { y } = outputs(norm({ rows: 1, columns: 4, epsilon: 0 }), { x, y: new Float32Array(4) }, 1);
    expect(
      largestError(
        y as Float32Array,
        [-3, -1, 1, 3].map((value) => value / Math.sqrt(5)),
      ),
    ).toBeLessThan(1e-6);
  });
});

describe("reduce", () => {
  const definitions: Readonly<Record<Reduction, (values: readonly number[]) => number>> = {
    sum: (values) => mean(values) * values.length,
    mean,
    max: (values) => Math.max(...values),
    min: (values) => Math.min(...values),
    prod: (values) => values.reduce((all, value) => all * value, 1),
  };
  const columnsOf = (x: Float32Array | Int32Array, outer: number, n: number, inner: number) =>
    Array.from({ length: outer * inner }, (_, place) =>
      Array.from({ length: n }, (__, k) => x[(Math.floor(place / inner) * n + k) * inner + (place % inner)]!),
    );

  it("equals the definition over any axis", () => {
    fc.assert(
      fc.property(
        fc.tuple(size(4), size(30), fc.oneof(fc.constant(1), size(37))),
        fc.constantFrom(...(Object.keys(definitions) as Reduction[])),
        size(4),
        sets,
        ([outer, n, inner], kind, splits, set) => {
          const x = randomFloats(outer * n * inner, 1, 1.5);
          const { y } = outputs(reduce({ outer, n, inner, kind }), { x, y: new Float32Array(outer * inner) }, splits, set);
          expect(largestError(y as Float32Array, columnsOf(x, outer, n, inner).map(definitions[kind]))).toBeLessThan(1e-5);
        },
      ),
      { numRuns: amount(120, 30) },
    );
  });

  it("reduces integers exactly, and lets NaN through", () => {
    const x = Int32Array.of(-5, 3, 2 ** 31 - 1, 0, 7, -9, 2, 1, 4, 8);
    for (const kind of ["sum", "max", "min", "prod"] as const)
      for (const inner of [1, 2, 5]) {
        const n = 10 / inner;
        const { y } = outputs(reduce({ outer: 1, n, inner, kind, type: "int32" }), { x, y: new Int32Array(inner) }, 1);
        const exact = columnsOf(x, 1, n, inner).map((values) =>
          kind === "prod" ? values.reduce((all, value) => Math.imul(all, value), 1) : definitions[kind](values) | 0,
        );
        expect([...y!]).toEqual(exact);
      }
    for (const kind of ["max", "min", "sum"] as const) {
      const numbers = Float32Array.of(1, 2, NaN, 4, 5);
      expect(outputs(reduce({ outer: 1, n: 5, inner: 1, kind }), { x: numbers, y: new Float32Array(1) }, 1)["y"]![0]).toBeNaN();
    }
  });

  it("finds the first and the last of the greatest and the least", () => {
    fc.assert(
      fc.property(
        fc.tuple(size(3), size(20), size(4)),
        fc.boolean(),
        fc.constantFrom("max", "min"),
        ([outer, n, inner], last, kind) => {
          const x = randomFloats(outer * n * inner, 3, 3).map(Math.round);
          const wanted = columnsOf(x, outer, n, inner).map((values) => {
            const best = kind === "max" ? Math.max(...values) : Math.min(...values);
            return last ? values.lastIndexOf(best) : values.indexOf(best);
          });
          const wide = outputs(argReduce({ outer, n, inner, kind, last }), { x, y: new Int32Array(wanted.length * 2) }, 2);
          expect([...wide["y"]!]).toEqual(wanted.flatMap((place) => [place, 0]));
        },
      ),
      { numRuns: amount(100, 30) },
    );
  });
});
