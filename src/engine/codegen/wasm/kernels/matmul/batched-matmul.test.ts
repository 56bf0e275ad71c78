import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KernelMemory, featureSets, largestError, randomFloats } from "../../../../../../test/engine/kernel-memory.ts";
import { amount } from "../../../../../../test/fixtures/slow.ts";
import { type BatchedMatmulRequest, type MatrixStrides, batchedMatmul } from "./batched-matmul.ts";

const extent = (rows: number, columns: number, batch: readonly number[], strides: MatrixStrides) =>
  1 +
  (rows - 1) * strides.row +
  Math.max(columns - 1, 0) * strides.column +
  batch.reduce((sum, size, axis) => sum + (size - 1) * strides.batch[axis]!, 0);

/** The places of a batch's matrices. */
function places(batch: readonly number[], strides: readonly number[]): number[] {
  return batch.reduce<number[]>(
    (all, size, axis) => all.flatMap((place) => Array.from({ length: size }, (_, index) => place + index * strides[axis]!)),
    [0],
  );
}

function expectProduct(request: BatchedMatmulRequest, splits: number, set = featureSets[0]!): void {
  const { m, n, k, batch, a, b, c, alpha = 1 } = request;
  const aValues = randomFloats(extent(m, k, batch, a), 1);
  const bValues = randomFloats(extent(Math.max(k, 1), n, batch, b), 2);
  const expected = new Float32Array(extent(m, n, batch, c)).fill(NaN);
  const [aPlaces, bPlaces] = [places(batch, a.batch), places(batch, b.batch)];
  places(batch, c.batch).forEach((place, index) => {
    for (let i = 0; i < m; i += 1)
      for (let j = 0; j < n; j += 1) {
        let sum = 0;
        for (let x = 0; x < k; x += 1)
          sum += aValues[aPlaces[index]! + i * a.row + x * a.column]! * bValues[bPlaces[index]! + x * b.row + j * b.column]!;
        expected[place + i * c.row + j] = sum * alpha;
      }
  });
  const kernel = batchedMatmul(request);
  const results = [1, splits].map((calls) => {
    const memory = new KernelMemory(64 * 1024 + 8 * (aValues.length + bValues.length + expected.length));
    const [aAt, bAt, out] = [memory.put(aValues), memory.put(bValues), memory.room(Float32Array, expected.length)];
    const scratch = kernel.scratchBytes > 0 ? [memory.room(Uint8Array, kernel.scratchBytes).offset] : [];
    memory.run(kernel, [aAt.offset, bAt.offset, out.offset, ...scratch], calls, set);
    return out.data.slice();
  });
  expect(largestError(results[0]!, expected)).toBeLessThan(1e-5);
  expect(results[1]).toEqual(results[0]);
}

const size = (max: number) => fc.integer({ min: 1, max });

describe("batched matmul", () => {
  it("equals the definition for matrices stored by rows or by columns", () => {
    const layouts = fc.constantFrom("rows", "columns", "apart");
    fc.assert(
      fc.property(
        fc.tuple(size(21), size(19), fc.nat(13)),
        fc.array(size(3), { maxLength: 2 }),
        fc.tuple(layouts, layouts),
        fc.constantFrom(1, 0.125),
        size(4),
        fc.constantFrom(...featureSets),
        ([m, n, k], batch, [aLayout, bLayout], alpha, splits, set) => {
          const strides = (rows: number, columns: number, layout: "rows" | "columns" | "apart"): MatrixStrides => {
            const matrix = layout === "apart" ? rows * columns * 6 + 7 : rows * columns + 3;
            const batchStrides = batch.length === 2 ? [batch[1]! * matrix, matrix] : batch.map(() => matrix);
            if (layout === "rows") return { row: columns, column: 1, batch: batchStrides };
            if (layout === "columns") return { row: 1, column: rows, batch: batchStrides };
            return { row: 2, column: rows * 3, batch: batchStrides };
          };
          const [a, b, c] = [strides(m, k, aLayout), strides(k, n, bLayout), strides(m, n, "rows")];
          expectProduct({ m, n, k, batch, a, b, c, alpha }, splits, set);
        },
      ),
      { numRuns: amount(150, 45) },
    );
  });

  it("computes attention's scores and context with the heads interleaved in [tokens, heads * size]", () => {
    const [tokens, heads, headSize, texts] = [29, 3, 16, 2];
    const width = heads * headSize;
    const batch = [texts, heads];
    const interleaved: MatrixStrides = { row: width, column: 1, batch: [tokens * width, headSize] };
    const scores: MatrixStrides = { row: tokens, column: 1, batch: [heads * tokens * tokens, tokens * tokens] };
    const flipped: MatrixStrides = { ...interleaved, row: 1, column: width };
    expectProduct({ m: tokens, n: tokens, k: headSize, batch, a: interleaved, b: flipped, c: scores, alpha: 0.25 }, 3);
    expectProduct({ m: tokens, n: headSize, k: tokens, batch, a: scores, b: interleaved, c: interleaved }, 2);
  });

  it("shares one matrix between all products, and one row between all k", () => {
    const shared: MatrixStrides = { row: 5, column: 1, batch: [0] };
    const own: MatrixStrides = { row: 5, column: 1, batch: [20] };
    expectProduct({ m: 4, n: 5, k: 5, batch: [3], a: own, b: shared, c: own }, 2);
    expectProduct({ m: 4, n: 5, k: 5, batch: [3], a: { ...own, column: 0 }, b: { ...shared, row: 0 }, c: own }, 2);
  });
});
