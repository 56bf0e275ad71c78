/** Softmax and log-softmax over a middle axis of [outer, n, inner], for 16 neighbouring columns at a time. */
import { at } from "../../../../../contract/checked.ts";
import type { I32 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { clampedExp } from "../../math/exponential.ts";
import { log } from "../../math/logarithm.ts";
import { emitBlock } from "../loops/blocks.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices, laneCount, storeLanes } from "../loops/lanes.ts";

/** Shape of one softmax or log-softmax over the axis n of [outer, n, inner]. `logarithm` selects log-softmax. */
export interface SoftmaxColumnsRequest {
  readonly outer: number;
  readonly n: number;
  readonly inner: number;
  readonly logarithm: boolean;
}

/** Columns per piece: one cache line. */
const blockColumns = 16;

/**
 * Generates the kernel of softmax along the middle axis of x [outer, n, inner]. Parameters: x, y (may be x), float32. One piece (unit of parallel
 * work) is a block of 16 columns. Relative error below 4e-7.
 */
export function softmaxColumns({ outer, n, inner, logarithm }: SoftmaxColumnsRequest): Kernel {
  const blocks = Math.ceil(inner / blockColumns);
  return defineKernel({
    family: "softmax-columns",
    request: { inner, logarithm },
    dynamicSizes: { n },
    inputs: ["x"],
    outputs: ["y"],
    pieces: outer * blocks,
    pieceNanoseconds: n * Math.min(inner, blockColumns) * 1.2 + 10,
    emit(f, { x, y }, from, to, counts) {
      f.range(from, to, 1, (piece) => {
        const index = f.value(i32.divU(piece, i32.const(blocks)));
        const block = f.value(i32.sub(piece, i32.mul(index, i32.const(blocks))));
        const row = i32.mul(index, i32.mul(counts.n, i32.const(inner * floatBytes)));
        const start = f.value(offsetBy(row, block, blockColumns * floatBytes));
        const at: ColumnBlock = { x: f.value(i32.add(x, start)), y: f.value(i32.add(y, start)), n: counts.n, inner, logarithm };
        emitBlock(f, { block, blocks, size: inner, width: blockColumns }, (columns) => emitColumns(f, at, columns));
      });
    },
  });
}

interface ColumnBlock extends Pick<SoftmaxColumnsRequest, "inner" | "logarithm"> {
  readonly x: I32;
  readonly y: I32;
  readonly n: I32;
}

function emitColumns(f: FunctionBuilder, { x, y, n, inner, logarithm }: ColumnBlock, columns: number): void {
  const vectors = indices(Math.ceil(columns / laneCount));
  const maxima = vectors.map(() => f.value(f32x4.const(Number.NEGATIVE_INFINITY)));
  const sums = vectors.map(() => f.value(v128.zero));
  const walk = (visit: (source: I32, target: I32) => void): void => {
    const [source, target] = [f.value(x), f.value(y)];
    f.range(i32.const(0), n, 1, () => {
      visit(source, target);
      f.increase(source, inner * floatBytes);
      f.increase(target, inner * floatBytes);
    });
  };
  const lanes = (vector: number): number => Math.min(laneCount, columns - vector * laneCount);
  walk((source) => maxima.forEach((best, vector) => f.set(best, f32x4.pmax(best, v128.load(source, vector * 16)))));
  walk((source, target) =>
    sums.forEach((sum, vector) => {
      const power = clampedExp(f, f32x4.sub(v128.load(source, vector * 16), at(maxima, vector)));
      const kept = f.value(power);
      f.set(sum, f32x4.add(sum, kept));
      if (!logarithm) storeLanes(f, target, kept, lanes(vector), vector * 16);
    }),
  );
  const factors = sums.map((sum) => f.value(logarithm ? log(f, sum) : f32x4.div(f32x4.const(1), sum)));
  walk((source, target) =>
    factors.forEach((factor, vector) => {
      const result = logarithm
        ? f32x4.sub(f32x4.sub(v128.load(source, vector * 16), at(maxima, vector)), factor)
        : f32x4.mul(v128.load(target, vector * 16), factor);
      storeLanes(f, target, result, lanes(vector), vector * 16);
    }),
  );
}
