/** GatherND and ScatterND of ONNX: each row of indices holds the leading coordinates of a block of the data. */
import { required } from "../../../../../contract/checked.ts";
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { type ElementBytes, copyBytes } from "../loops/copy-bytes.ts";
import { offsetBy } from "../loops/addressing.ts";
import { type IndexType, indexOutOfRange, loadIndex } from "./load-index.ts";
import { type ScatterReductionKernel, type ScatterType, elementBytesOf, storeReduced } from "./scatter-reduction.ts";

interface IndexedBlocks {
  /** Number of rows of indices; each has one index per axis of `sizes`. Negative indices count from the end. */
  readonly rows: number;
  readonly sizes: readonly number[];
  /** Strides of the indexed axes, in elements. */
  readonly strides: readonly number[];
  /** Elements of a block, which are contiguous. */
  readonly length: number;
  readonly indexType: IndexType;
}

/** Shapes and types of one GatherND kernel. The output is [rows, length] and contiguous. */
export interface GatherBlocksRequest extends IndexedBlocks {
  /** Rows of indices per batch. */
  readonly batchRows: number;
  /** Elements of the data per batch. */
  readonly batchLength: number;
  readonly elementBytes: ElementBytes;
}

/** Shapes, type and reduction of one ScatterND kernel. The updates are [rows, length] and contiguous. */
export interface ScatterBlocksRequest extends IndexedBlocks {
  readonly type: ScatterType;
  readonly reduction: ScatterReductionKernel;
}

/**
 * Generates the kernel of ONNX GatherND. Parameters: x, index, y. Returns the status 0 or `indexOutOfRange`. One piece (unit of parallel work) is one
 * row of indices.
 */
export function gatherBlocks(request: GatherBlocksRequest): Kernel {
  const { rows, sizes, strides, length, indexType, batchRows, batchLength, elementBytes } = request;
  const isOneBatch = batchRows >= rows;
  return defineKernel({
    family: "gather-blocks",
    request: { sizes, strides, length, indexType, elementBytes, ...(isOneBatch ? {} : { batchRows, batchLength }) },
    inputs: ["x", "index"],
    outputs: ["y"],
    pieces: rows,
    pieceNanoseconds: (length * elementBytes) / 8 + 5 * sizes.length + 8,
    emit(f, { x, index, y }, from, to) {
      const status = f.value(i32.const(0));
      f.range(from, to, 1, (row) => {
        const batch = i32.divU(row, i32.const(batchRows));
        const base = f.value(isOneBatch ? x : offsetBy(x, batch, batchLength * elementBytes));
        const { place, isInside } = blockOffset(f, request, index, row);
        f.when(
          isInside,
          () => copyBytes(f, offsetBy(y, row, length * elementBytes), offsetBy(base, place, elementBytes), length * elementBytes),
          () => f.set(status, i32.const(indexOutOfRange)),
        );
      });
      return status;
    },
  });
}

/** Elements of a block per piece. */
const pieceElements = 256;

/**
 * Generates the kernel of ONNX ScatterND. Parameters: index, updates, y, which already holds the data. Returns the status 0 or `indexOutOfRange`. One
 * piece (unit of parallel work) is a part of 256 elements of all blocks, so updates of the same element are in one piece and are applied in order.
 */
export function scatterBlocks(request: ScatterBlocksRequest): Kernel {
  const { rows, sizes, strides, length, indexType, type, reduction } = request;
  const bytes = elementBytesOf[type];
  const pieces = Math.ceil(length / pieceElements);
  return defineKernel({
    family: "scatter-blocks",
    request: { sizes, strides, length, indexType, type, reduction },
    dynamicSizes: { rows },
    inputs: ["index", "updates"],
    outputs: ["y"],
    pieces,
    pieceNanoseconds: rows * (Math.min(length, pieceElements) * (reduction === "none" ? bytes / 8 : 1) + 5 * sizes.length + 5),
    emit(f, { index, updates, y }, from, to, counts) {
      const status = f.value(i32.const(0));
      f.range(from, to, 1, (piece) => {
        const first = f.value(i32.mul(piece, i32.const(pieceElements)));
        f.range(i32.const(0), counts.rows, 1, (row) => {
          const { place, isInside } = blockOffset(f, request, index, row);
          const put = (count: number): void => {
            const target = f.value(offsetBy(offsetBy(y, place, bytes), first, bytes));
            const source = f.value(offsetBy(offsetBy(updates, row, length * bytes), first, bytes));
            if (reduction === "none") copyBytes(f, target, source, count * bytes);
            else
              f.repeat(count, () => {
                storeReduced(f, type, reduction, target, source);
                f.increase(target, bytes);
                f.increase(source, bytes);
              });
          };
          const rest = length - (pieces - 1) * pieceElements;
          const whole = i32.ne(piece, i32.const(pieces - 1));
          const inside = (): void =>
            pieces === 1
              ? put(rest)
              : f.when(
                  whole,
                  () => put(pieceElements),
                  () => put(rest),
                );
          f.when(isInside, inside, () => f.set(status, i32.const(indexOutOfRange)));
        });
      });
      return status;
    },
  });
}

/** Returns the offset in elements (`place`) of the block that a row of indices selects, and whether all indices of the row are in range (`isInside`). */
function blockOffset(
  f: FunctionBuilder,
  { sizes, strides, indexType }: IndexedBlocks,
  index: I32,
  row: I32,
): { readonly place: Local<"i32">; readonly isInside: I32 } {
  const place = f.value(i32.const(0));
  const isInside = f.value(i32.const(1));
  sizes.forEach((size, axis) => {
    const number = i32.add(i32.mul(row, i32.const(sizes.length)), i32.const(axis));
    const at = loadIndex(f, index, number, i32.const(size), indexType);
    f.set(isInside, i32.and(isInside, i32.ltU(at, i32.const(size))));
    f.increase(place, i32.mul(at, i32.const(required(strides[axis], "the stride of an indexed axis"))));
  });
  return { place, isInside };
}
