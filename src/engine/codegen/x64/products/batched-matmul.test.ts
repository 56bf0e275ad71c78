import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { expectSameBits, openLevel } from "../../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../../test/fixtures/slow.ts";
import { x64Levels } from "../../../../kernels/simd-levels.ts";
import { type BatchedMatmulRequest, type MatrixStrides, batchedMatmul } from "../../wasm/kernels/matmul/batched-matmul.ts";
import type { MachineCode } from "../index.ts";
import { machineBatchedMatmul } from "./batched-matmul.ts";

const extent = (rows: number, columns: number, batch: readonly number[], strides: MatrixStrides) =>
  1 +
  (rows - 1) * strides.row +
  (columns - 1) * strides.column +
  batch.reduce((sum, size, axis) => sum + (size - 1) * strides.batch[axis]!, 0);

describe.each(x64Levels.filter((level) => level !== "AVX-512 VNNI"))("batched products in machine code with %s", (level) => {
  const opened = openLevel(level);
  const machineCode = opened as MachineCode;
  beforeEach(({ skip }) => skip(typeof opened === "string", String(opened)));

  function expectEqual(request: BatchedMatmulRequest, splits: number, last: "a" | "b" | "c"): void {
    const { m, n, k, batch, a, b, c } = request;
    const operands = {
      a: randomFloats(extent(m, k, batch, a), 1),
      b: randomFloats(extent(k, n, batch, b), 2),
      c: new Float32Array(extent(m, n, batch, c)).fill(0.5),
    };
    expectSameBits(batchedMatmul(request), operands, machineCode, { calls: splits, last });
  }

  it("gives the bits of WebAssembly for matrices stored by rows or by columns, in one call or several", () => {
    const size = (max: number) => fc.integer({ min: 1, max });
    const layouts = fc.constantFrom("rows", "columns", "apart");
    fc.assert(
      fc.property(
        fc.tuple(fc.oneof(fc.integer({ min: 4, max: 40 }), size(3)), size(75), size(37)),
        fc.array(size(3), { maxLength: 2 }),
        fc.tuple(layouts, layouts),
        fc.constantFrom(1, 0.125),
        size(4),
        fc.constantFrom("a" as const, "b" as const, "c" as const),
        ([m, n, k], batch, [aLayout, bLayout], alpha, splits, last) => {
          const strides = (rows: number, columns: number, layout: "rows" | "columns" | "apart"): MatrixStrides => {
            const matrix = layout === "apart" ? rows * columns * 6 + 7 : rows * columns + 3;
            const batchStrides = batch.length === 2 ? [batch[1]! * matrix, matrix] : batch.map(() => matrix);
            if (layout === "rows") return { row: columns, column: 1, batch: batchStrides };
            if (layout === "columns") return { row: 1, column: rows, batch: batchStrides };
            return { row: 2, column: rows * 3, batch: batchStrides };
          };
          // Other layouts of few rows are dot products, or panels that WebAssembly copies.
          const isFew = m < 4;
          const [a, b, c] = [strides(m, k, aLayout), strides(k, n, isFew ? "rows" : bLayout), strides(m, n, "rows")];
          // What lies between the matrices of c is compared as well, so that they are next to each other.
          const dense = { ...c, batch: batch.length === 2 ? [batch[1]! * m * n, m * n] : batch.map(() => m * n) };
          expectEqual({ m, n, k, batch, a, b, c: dense, alpha, ...(isFew ? {} : { panelColumns: 16 }) }, splits, last);
        },
      ),
      { numRuns: amount(300, 30) },
    );
  });

  it("computes attention's scores with the heads interleaved, and shares matrices and rows", () => {
    const [tokens, heads, headSize] = [29, 3, 16];
    const width = heads * headSize;
    const interleaved: MatrixStrides = { row: width, column: 1, batch: [tokens * width, headSize] };
    const scores: MatrixStrides = { row: tokens, column: 1, batch: [heads * tokens * tokens, tokens * tokens] };
    const flipped: MatrixStrides = { ...interleaved, row: 1, column: width };
    const common = { batch: [2, heads], panelColumns: 16 } as const;
    expectEqual({ ...common, m: tokens, n: tokens, k: headSize, a: interleaved, b: flipped, c: scores, alpha: 0.25 }, 3, "b");
    expectEqual({ ...common, m: tokens, n: headSize, k: tokens, a: scores, b: interleaved, c: interleaved }, 2, "b");
    const own: MatrixStrides = { row: 5, column: 1, batch: [20] };
    const shared: MatrixStrides = { row: 0, column: 1, batch: [0] };
    expectEqual({ m: 4, n: 5, k: 5, batch: [3], a: { ...own, column: 0 }, b: shared, c: own, panelColumns: 16 }, 2, "b");
  });

  it("leaves integers and narrow panels of many rows to WebAssembly", () => {
    const matrix: MatrixStrides = { row: 8, column: 1, batch: [] };
    const request = { m: 8, n: 8, k: 8, batch: [], a: matrix, b: matrix, c: matrix } as const;
    expect(machineBatchedMatmul(request, level)).toBeUndefined();
    expect(machineBatchedMatmul({ ...request, panelColumns: 16, type: "int32" }, level)).toBeUndefined();
  });
});
