/** Reductions of int64 over one axis of [outer, n, inner], for short tensors such as lengths. Sums wrap around. */
import { i32, i64, selectValue } from "../../assembler/scalar.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";

/** Shape and kind of one int64 reduction: the input is [outer, n, inner], the output is [outer, inner], both contiguous. */
export interface ReduceInt64Request {
  readonly outer: number;
  /** Size of the reduced axis; at least 1. */
  readonly n: number;
  readonly inner: number;
  readonly kind: "sum" | "max" | "min" | "prod";
}

const int64Bytes = 8;

/**
 * Generates the kernel of a reduction of int64 along the middle axis of x [outer, n, inner]. Parameters: x, y. One piece (unit of parallel work) is
 * one of outer * inner results.
 */
export function reduceInt64({ outer, n, inner, kind }: ReduceInt64Request): Kernel {
  return defineKernel({
    family: "reduce-wide",
    request: { inner, kind },
    dynamicSizes: { n },
    inputs: ["x"],
    outputs: ["y"],
    pieces: outer * inner,
    pieceNanoseconds: n * 0.6 + 5,
    emit(f, { x, y }, from, to, counts) {
      f.range(from, to, 1, (piece) => {
        const index = f.value(i32.divU(piece, i32.const(inner)));
        const column = i32.sub(piece, i32.mul(index, i32.const(inner)));
        const row = i32.mul(i32.mul(index, counts.n), i32.const(inner));
        const at = f.value(offsetBy(x, i32.add(row, column), int64Bytes));
        const total = f.value(i64.load(at));
        f.range(i32.const(1), counts.n, 1, () => {
          f.increase(at, inner * int64Bytes);
          const next = f.value(i64.load(at));
          if (kind === "sum") f.set(total, i64.add(total, next));
          else if (kind === "prod") f.set(total, i64.mul(total, next));
          else f.set(total, selectValue(kind === "max" ? i64.gtS(next, total) : i64.ltS(next, total), next, total));
        });
        f.run(i64.store(offsetBy(y, piece, int64Bytes), total));
      });
    },
  });
}
