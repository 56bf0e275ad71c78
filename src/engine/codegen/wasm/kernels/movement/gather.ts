/** Gather along one axis (ONNX Gather, embedding tables): y[outer, i, inner] = x[outer, index[i], inner]. */
import { required } from "../../../../../contract/checked.ts";
import { i32 } from "../../assembler/scalar.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { type ElementBytes, copyBytes } from "../loops/copy-bytes.ts";
import { offsetBy } from "../loops/addressing.ts";
import { indexOutOfRange, type IndexType, loadIndex } from "./load-index.ts";

/** Shapes and types of one Gather kernel: x is [outer, n, inner], the output is [outer, count, inner], both contiguous. */
export interface GatherRequest {
  readonly outer: number;
  /** Size of the indexed axis. Negative indices count from the end. */
  readonly n: number;
  readonly inner: number;
  /** Number of indices. */
  readonly count: number;
  readonly elementBytes: ElementBytes;
  readonly indexType: IndexType;
  /** The indices, where machine code is generated for them: not negative and below `n`, of elements of 4 bytes along the last axis. Default: none. */
  readonly columns?: readonly number[];
}

/**
 * Generates the kernel of ONNX Gather. Parameters: x, index, y. Returns the status 0 or `indexOutOfRange`. One piece (unit of parallel work) copies
 * one of outer * count rows, or with `columns` a row of the output.
 */
export function gather(request: GatherRequest): Kernel {
  const { outer, n, inner, count, elementBytes, indexType, columns } = request;
  const copies = columns === undefined ? 1 : count;
  const rowBytes = inner * elementBytes;
  return defineKernel({
    family: "gather",
    request: { n, rowBytes, ...(outer === 1 ? {} : { count }), indexType, columns },
    inputs: ["x", "index"],
    outputs: ["y"],
    pieces: (outer * count) / copies,
    pieceNanoseconds: copies * (rowBytes / 8 + 8),
    machine: columns && { request: { n, columns } },
    emit(f, { x, index, y }, from, to) {
      const status = f.value(i32.const(0));
      const [first, end] = [from, to].map((piece) => f.value(i32.mul(piece, i32.const(copies))));
      f.range(required(first, "the first copy"), required(end, "the end of the copies"), 1, (piece) => {
        const block = f.value(outer === 1 ? i32.const(0) : i32.divU(piece, i32.const(count)));
        const place = outer === 1 ? piece : i32.sub(piece, i32.mul(block, i32.const(count)));
        const row = loadIndex(f, index, place, i32.const(n), indexType);
        f.when(
          i32.ltU(row, i32.const(n)),
          () => copyBytes(f, offsetBy(y, piece, rowBytes), offsetBy(offsetBy(x, block, n * rowBytes), row, rowBytes), rowBytes),
          () => f.set(status, i32.const(indexOutOfRange)),
        );
      });
      return status;
    },
  });
}
