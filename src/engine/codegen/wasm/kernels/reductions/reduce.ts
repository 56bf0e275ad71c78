/** Reductions over one axis of [outer, n, inner]; inner is 1 for the last axis. */
import type { I32, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, i32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { emitBlock } from "../loops/blocks.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices, storeLanes } from "../loops/lanes.ts";
import { type Reducer, loadVector, reduceRow } from "../loops/row-loops.ts";

/** How elements are combined. */
export type Reduction = "sum" | "mean" | "max" | "min" | "prod";

/** Shape and kind of one reduction: the input is [outer, n, inner], the output is [outer, inner], both contiguous. */
export interface ReduceRequest {
  readonly outer: number;
  /** Size of the reduced axis; at least 1. */
  readonly n: number;
  readonly inner: number;
  readonly kind: Reduction;
  /** int32 has no mean; its sums and products wrap around. Default: float32. */
  readonly type?: "float32" | "int32";
}

/** Vectors per piece when the axis is not the last. */
const blockVectors = 4;
const blockColumns = blockVectors * 4;

/**
 * Generates the kernel of a reduction along the middle axis of x [outer, n, inner]. Parameters: x, y. A NaN in the input gives NaN. One piece (unit
 * of parallel work) is a row, or a block of 16 columns when inner is not 1.
 */
export function reduce(request: ReduceRequest): Kernel {
  const { outer, n, inner, kind, type = "float32" } = request;
  const blocks = Math.ceil(inner / blockColumns);
  const steps = reductionSteps(kind, type, n);
  return defineKernel({
    family: "reduce",
    request: { n, inner, kind, type },
    inputs: ["x"],
    outputs: ["y"],
    pieces: outer * blocks,
    pieceNanoseconds: n * Math.min(inner, blockColumns) * 0.3 + 3,
    emit(f, { x, y }, from, to) {
      f.range(from, to, 1, (piece) => {
        if (inner === 1) {
          const row = f.value(offsetBy(x, piece, n * floatBytes));
          const total = reduceRow(f, n, steps, (offset) => loadVector(row, offset));
          storeLanes(f, offsetBy(y, piece, floatBytes), steps.end(total), 1);
          return;
        }
        const index = f.value(i32.divU(piece, i32.const(blocks)));
        const block = f.value(i32.sub(piece, i32.mul(index, i32.const(blocks))));
        const source = f.value(offsetBy(offsetBy(x, index, n * inner * floatBytes), block, blockColumns * floatBytes));
        const target = f.value(offsetBy(offsetBy(y, index, inner * floatBytes), block, blockColumns * floatBytes));
        emitBlock(f, { block, blocks, size: inner, width: blockColumns }, (columns) =>
          reduceColumns(f, request, steps, source, target, columns),
        );
      });
    },
  });
}

interface ReductionSteps extends Reducer {
  end(total: V128): V128;
}

function reduceColumns(
  f: FunctionBuilder,
  { n, inner }: ReduceRequest,
  steps: ReductionSteps,
  x: I32,
  y: I32,
  columns: number,
): void {
  const vectors = indices(Math.ceil(columns / 4));
  const totals = vectors.map(() => f.value(steps.identity));
  const row = f.value(x);
  f.repeat(n, () => {
    totals.forEach((total, vector) => f.set(total, steps.combine(total, v128.load(row, vector * 16))));
    f.increase(row, inner * floatBytes);
  });
  totals.forEach((total, vector) => storeLanes(f, y, steps.end(total), Math.min(4, columns - vector * 4), vector * 16));
}

function reductionSteps(kind: Reduction, type: "float32" | "int32", n: number): ReductionSteps {
  const lanes = type === "float32" ? f32x4 : { ...i32x4, min: i32x4.minS, max: i32x4.maxS };
  const [min, max] = type === "float32" ? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] : [-(2 ** 31), 2 ** 31 - 1];
  const steps: ReductionSteps = { combine: lanes.add, identity: lanes.const(0), end: (total) => total };
  switch (kind) {
    case "sum":
      return steps;
    case "mean":
      return { ...steps, end: (total) => f32x4.mul(total, f32x4.const(1 / n)) };
    case "max":
      return { ...steps, combine: lanes.max, identity: lanes.const(min) };
    case "min":
      return { ...steps, combine: lanes.min, identity: lanes.const(max) };
    case "prod":
      return { ...steps, combine: lanes.mul, identity: lanes.const(1) };
  }
}
