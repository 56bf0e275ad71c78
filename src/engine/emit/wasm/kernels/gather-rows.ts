/** Gather along one axis: y[outer, i, inner] = x[outer, index[i], inner]; embedding tables, ONNX Gather. */
import type { I32, Local } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32, i64 } from "../assembler/scalar.ts";
import { type Kernel, defineKernel } from "../kernel.ts";
import { type ElementBytes, copyRun } from "./copy-run.ts";
import { advanced } from "./indexing.ts";

export interface GatherRequest {
  readonly outer: number;
  /** The axis's size. An index counts from 0, a negative one from the end. */
  readonly n: number;
  readonly inner: number;
  /** How many indices there are. */
  readonly count: number;
  readonly elementBytes: ElementBytes;
  readonly indexType: "int32" | "int64";
}

/** The status of a call that met an index outside of -n to n-1; its row was left as it was. */
export const indexOutOfRange = 1;

/** Parameters: x, index, y. Returns 0, or `indexOutOfRange`. Pieces: outer * count rows. */
export function gather(request: GatherRequest): Kernel {
  const { outer, n, inner, count, elementBytes, indexType } = request;
  const rowBytes = inner * elementBytes;
  return defineKernel({
    family: "gather",
    request: { n, rowBytes, ...(outer === 1 ? {} : { count }), indexType },
    inputs: ["x", "index"],
    outputs: ["y"],
    pieces: outer * count,
    pieceNanoseconds: rowBytes / 8 + 8,
    emit(f, { x, index, y }, from, to) {
      const status = f.value(i32.const(0));
      f.range(from, to, 1, (piece) => {
        const block = f.value(outer === 1 ? i32.const(0) : i32.divU(piece, i32.const(count)));
        const place = outer === 1 ? piece : i32.sub(piece, i32.mul(block, i32.const(count)));
        const row = loadIndex(f, index, place, n, indexType);
        f.when(
          i32.ltU(row, i32.const(n)),
          () => copyRun(f, advanced(y, piece, rowBytes), advanced(advanced(x, block, n * rowBytes), row, rowBytes), rowBytes),
          () => f.set(status, i32.const(indexOutOfRange)),
        );
      });
      return status;
    },
  });
}

/** An index as an unsigned number, from 0 to below n where it is one; all others are n or more. */
function loadIndex(f: FunctionBuilder, index: Local<"i32">, place: I32, n: number, type: "int32" | "int64"): Local<"i32"> {
  const row = f.local("i32");
  if (type === "int32") {
    f.set(row, i32.load(advanced(index, place, 4)));
  } else {
    const wide = f.value(i64.load(advanced(index, place, 8)));
    f.set(row, i32.wrap(wide));
    f.when(i64.ne(i64.extendI32S(row), wide), () => f.set(row, i32.const(-(2 ** 31)))); // far out of range, and stays so
  }
  f.when(i32.ltS(row, i32.const(0)), () => f.increase(row, n));
  return row;
}
