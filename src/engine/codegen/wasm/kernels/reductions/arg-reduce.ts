/** Index of the largest or smallest element along one axis of [outer, n, inner]. */
import { f32, i32, i64 } from "../../assembler/scalar.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes } from "../loops/lanes.ts";

/** Shape and kind of one ArgMax or ArgMin kernel: the input is [outer, n, inner], the output is [outer, inner], both contiguous. */
export interface ArgReduceRequest {
  readonly outer: number;
  readonly n: number;
  readonly inner: number;
  readonly kind: "max" | "min";
  /** Whether the last of several equal elements is selected. Default: false, the first one. */
  readonly last?: boolean;
}

/**
 * Generates the kernel of arg-max or arg-min along the middle axis of x [outer, n, inner]. Parameters: x (float32), y (int64). A NaN is chosen only when it
 * comes first. One piece (unit of parallel work) is one of outer * inner results.
 */
export function argReduce(request: ArgReduceRequest): Kernel {
  const { outer, n, inner, kind, last = false } = request;
  return defineKernel({
    family: "arg-reduce",
    request: { n, inner, kind, last },
    inputs: ["x"],
    outputs: ["y"],
    pieces: outer * inner,
    pieceNanoseconds: n + 5,
    emit(f, { x, y }, from, to) {
      const better = kind === "max" ? (last ? f32.ge : f32.gt) : last ? f32.le : f32.lt;
      f.range(from, to, 1, (piece) => {
        const index = f.value(i32.divU(piece, i32.const(inner)));
        const column = i32.sub(piece, i32.mul(index, i32.const(inner)));
        const at = f.value(offsetBy(offsetBy(x, index, n * inner * floatBytes), column, floatBytes));
        const best = f.value(f32.load(at));
        const place = f.value(i32.const(0));
        f.range(i32.const(1), i32.const(n), 1, (candidate) => {
          f.increase(at, inner * floatBytes);
          const value = f.value(f32.load(at));
          f.when(better(value, best), () => {
            f.set(best, value);
            f.set(place, candidate);
          });
        });
        f.run(i64.store(offsetBy(y, piece, 8), i64.extendI32U(place)));
      });
    },
  });
}
