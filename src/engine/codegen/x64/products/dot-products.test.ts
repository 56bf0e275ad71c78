import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { KernelMemory, randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { openLevel, runMachineCode } from "../../../../../test/engine/machine-kernels.ts";
import { amount } from "../../../../../test/fixtures/slow.ts";
import { x64Levels } from "../../../../kernels/simd-levels.ts";
import { type BatchedMatmulRequest, batchedMatmul } from "../../wasm/kernels/matmul/batched-matmul.ts";
import type { MachineCode } from "../index.ts";

describe.each(x64Levels.filter((level) => level !== "AVX-512 VNNI"))("dot products of few rows with %s", (level) => {
  const opened = openLevel(level);
  const machineCode = opened as MachineCode;
  beforeEach(({ skip }) => skip(typeof opened === "string", String(opened)));

  it("computes rows times columns that lie next to each other or apart, and reads nothing behind them", () => {
    const size = (max: number) => fc.integer({ min: 1, max });
    fc.assert(
      fc.property(
        fc.tuple(size(3), size(37), fc.integer({ min: 2, max: 150 })),
        fc.array(size(3), { maxLength: 2 }),
        fc.tuple(size(3), size(3)),
        fc.constantFrom(1, 0.125),
        fc.tuple(size(4), fc.boolean()),
        ([m, n, k], batch, [aGap, bGap], alpha, [splits, isLast]) => {
          const batchStrides = (matrix: number) => (batch.length === 2 ? [batch[1]! * matrix, matrix] : batch.map(() => matrix));
          const [aRow, bColumn] = [k + aGap - 1, k + bGap - 1];
          const request: BatchedMatmulRequest = {
            m,
            n,
            k,
            batch,
            alpha,
            a: { row: aRow, column: 1, batch: batchStrides(m * aRow) },
            b: { row: 1, column: bColumn, batch: batchStrides(n * bColumn) },
            c: { row: n, column: 1, batch: batchStrides(m * n) },
          };
          const count = batch.reduce((all, each) => all * each, 1);
          const a = randomFloats(count * m * aRow, 1);
          const b = randomFloats(count * n * bColumn - (bColumn - k), 2);
          const kernel = batchedMatmul(request);
          const memory = new KernelMemory(4 * (a.length + b.length + count * m * n) + 2 ** 16);
          const place = isLast ? memory.roomAtEnd(Float32Array, b.length) : memory.room(Float32Array, b.length);
          place.data.set(b);
          const c = memory.room(Float32Array, count * m * n);
          runMachineCode(memory, kernel, [memory.put(a).offset, place.offset, c.offset], machineCode, splits);
          for (const [index, value] of c.data.entries()) {
            const [column, row] = [index % n, Math.floor(index / n)];
            const matrix = Math.floor(row / m);
            let [sum, magnitude] = [0, 0];
            for (let at = 0; at < k; at += 1) {
              const product = a[row * aRow + at]! * b[(matrix * n + column) * bColumn + at]!;
              sum += product;
              magnitude += Math.abs(product);
            }
            expect(Math.abs(value - alpha * sum)).toBeLessThanOrEqual(4e-7 * alpha * magnitude + 1e-12);
          }
        },
      ),
      { numRuns: amount(400, 40) },
    );
  });
});
