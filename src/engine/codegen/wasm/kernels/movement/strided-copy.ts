/**
 * Copies between strided layouts: transpose, slice, concatenation, broadcast (stride 0) and reversal (negative strides, with the offset of the element
 * that comes first). Axes are merged first, so that most copies become contiguous runs or a transpose.
 */
import { at } from "../../../../../contract/checked.ts";
import type { I32, Local } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { type ElementBytes, copyElement, copyBytes } from "../loops/copy-bytes.ts";
import { type Axis, collapseAxes } from "../loops/axes.ts";
import { emitBlock } from "../loops/blocks.ts";
import { offsetBy, minimum, addressAt, product, unravel } from "../loops/addressing.ts";
import { indices } from "../loops/lanes.ts";
import { transposed } from "../matmul/panel-copy.ts";

/** Shape and strides of a copy from one tensor layout to another. */
export interface StridedCopyRequest {
  /** Shape of both tensors. */
  readonly shape: readonly number[];
  /** Strides of the source in elements, one per axis. */
  readonly from: readonly number[];
  /** Strides of the target in elements, one per axis. No two elements may have the same address. */
  readonly to: readonly number[];
  readonly elementBytes: ElementBytes;
}

/** Bytes per piece of a contiguous copy. */
const blockBytes = 16_384;

/**
 * Generates the kernel that copies a tensor from one strided layout to another. Parameters: x, y, each aligned to the element size. One piece (unit
 * of parallel work) is a row, a group of four rows of a transpose, or a block of 16 KiB.
 */
export function stridedCopy(request: StridedCopyRequest): Kernel {
  const { shape, from: source, to: target, elementBytes } = request;
  const axes = collapseAxes(shape, [source, target]);
  const copy = planCopy(axes, elementBytes);
  return defineKernel({
    family: "strided-copy",
    request: { axes, elementBytes },
    inputs: ["x"],
    outputs: ["y"],
    pieces: product(shape) === 0 ? 0 : copy.pieces,
    pieceNanoseconds: copy.pieceNanoseconds,
    emit: (f, { x, y }, from, to) => f.range(from, to, 1, (piece) => copy.emit(f, x, y, piece)),
  });
}

interface CopyStrategy {
  readonly pieces: number;
  readonly pieceNanoseconds: number;
  emit(f: FunctionBuilder, x: I32, y: I32, piece: I32): void;
}

function planCopy(axes: readonly Axis[], bytes: ElementBytes): CopyStrategy {
  const inner = at(axes, axes.length - 1);
  const [sourceStep = 0, targetStep = 0] = inner.strides;
  if (sourceStep === 1 && targetStep === 1)
    return axes.length === 1 ? contiguous(inner.size * bytes) : contiguousRows(axes, inner.size * bytes, bytes);
  if (sourceStep === 0 && targetStep === 1) return fillRows(axes, inner.size * bytes, bytes);
  const crossing = axes.findIndex(({ strides }) => strides[0] === 1);
  const isForward = axes.every(({ strides }) => strides.every((stride) => stride >= 0)); // constant offsets cannot be negative
  if (bytes === 4 && targetStep === 1 && crossing >= 0 && isForward) return tiledTranspose(axes, crossing, inner);
  return elementwiseCopy(axes, inner, bytes);
}

/** Copies one contiguous range of `length` bytes. Pieces: blocks of 16 KiB. */
function contiguous(length: number): CopyStrategy {
  const blocks = Math.ceil(length / blockBytes);
  return {
    pieces: blocks,
    pieceNanoseconds: blockBytes / 10,
    emit(f, x, y, piece) {
      const run = (bytes: number): void => copyBytes(f, offsetBy(y, piece, blockBytes), offsetBy(x, piece, blockBytes), bytes);
      // Source and target may be the same buffer, for example the data of a scatter operation. No copy is needed then.
      f.when(i32.ne(x, y), () => {
        emitBlock(f, { block: piece, blocks, size: length, width: blockBytes }, run);
      });
    },
  };
}

function contiguousRows(axes: readonly Axis[], length: number, bytes: ElementBytes): CopyStrategy {
  const outer = axes.slice(0, -1);
  return {
    pieces: product(outer.map(({ size }) => size)),
    pieceNanoseconds: length / 10 + 8,
    emit(f, x, y, piece) {
      const [source, target] = rowStarts(f, outer, x, y, piece, bytes);
      copyBytes(f, target, source, length);
    },
  };
}

/** Fills each row of the target with one element of the source, whose last axis has stride 0. */
function fillRows(axes: readonly Axis[], length: number, bytes: ElementBytes): CopyStrategy {
  const outer = axes.slice(0, -1);
  const blocks = outer.length === 0 ? Math.ceil(length / blockBytes) : 1;
  const splat = { 1: v128.load8Splat, 2: v128.load16Splat, 4: v128.load32Splat, 8: v128.load64Splat }[bytes];
  return {
    pieces: blocks * product(outer.map(({ size }) => size)),
    pieceNanoseconds: Math.min(length, blocks === 1 ? length : blockBytes) / 12 + 8,
    emit(f, x, y, piece) {
      const [source, target] =
        blocks === 1 ? rowStarts(f, outer, x, y, piece, bytes) : [x, f.value(offsetBy(y, piece, blockBytes))];
      const value = f.value(splat(source));
      const fill = (count: number): void => {
        const to = f.value(target);
        f.repeat(Math.floor(count / 16), () => {
          f.run(v128.store(to, value));
          f.increase(to, 16);
        });
        let done = 0;
        const stores = { 8: v128.store64Lane, 4: v128.store32Lane, 2: v128.store16Lane, 1: v128.store8Lane };
        for (const size of [8, 4, 2, 1] as const) {
          if ((count & size) === 0) continue;
          f.run(stores[size](to, value, 0, done));
          done += size;
        }
      };
      const last = length - (blocks - 1) * blockBytes;
      if (blocks === 1) fill(length);
      else
        f.when(
          i32.ne(piece, i32.const(blocks - 1)),
          () => fill(blockBytes),
          () => fill(last),
        );
    },
  };
}

/** Copies element by element along the last axis. */
function elementwiseCopy(axes: readonly Axis[], { size, strides }: Axis, bytes: ElementBytes): CopyStrategy {
  const outer = axes.slice(0, -1);
  const [sourceStep, targetStep] = [at(strides, 0), at(strides, 1)];
  return {
    pieces: product(outer.map((axis) => axis.size)),
    pieceNanoseconds: size + 8,
    emit(f, x, y, piece) {
      const [source, target] = rowStarts(f, outer, x, y, piece, bytes);
      f.repeat(size, () => {
        copyElement(f, target, source, bytes, 0, 0);
        f.increase(source, sourceStep * bytes);
        f.increase(target, targetStep * bytes);
      });
    },
  };
}

/**
 * Transposes tiles of 4 x 4 elements of 32 bits. The axis with index `crossing` is contiguous in the source, the last axis in the target. Pieces:
 * groups of four positions along `crossing`.
 */
function tiledTranspose(axes: readonly Axis[], crossing: number, along: Axis): CopyStrategy {
  const outer = axes.slice(0, -1).filter((_, axis) => axis !== crossing);
  const across = at(axes, crossing);
  const step = (axis: Axis, operand: 0 | 1): number => at(axis.strides, operand) * 4;
  const groups = Math.ceil(across.size / 4);
  return {
    pieces: groups * product(outer.map(({ size }) => size)),
    pieceNanoseconds: along.size * 2 + 10,
    emit(f, x, y, piece) {
      const index = f.value(i32.divU(piece, i32.const(groups)));
      const group = f.value(i32.sub(piece, i32.mul(index, i32.const(groups))));
      const [source, target] = rowStarts(f, outer, x, y, index, 4);
      f.increase(source, i32.mul(group, i32.const(4 * step(across, 0))));
      f.increase(target, i32.mul(group, i32.const(4 * step(across, 1))));
      const tiles = Math.floor(along.size / 4);
      const single = (places: I32, count: number): void =>
        f.range(i32.const(0), places, 1, (place) => {
          const from = f.value(offsetBy(source, place, step(across, 0)));
          const to = f.value(offsetBy(target, place, step(across, 1)));
          f.repeat(count, () => {
            copyElement(f, to, from, 4, 0, 0);
            f.increase(from, step(along, 0));
            f.increase(to, step(along, 1));
          });
        });
      const whole = (): void => {
        f.repeat(tiles, () => {
          const rows = indices(4).map((row) => f.value(v128.load(source, row * step(along, 0))));
          transposed(f, rows).forEach((column, k) => f.run(v128.store(target, column, k * step(across, 1))));
          f.increase(source, 4 * step(along, 0));
          f.increase(target, 4 * step(along, 1));
        });
        if (along.size % 4 > 0) single(i32.const(4), along.size % 4);
      };
      if (across.size % 4 === 0) whole();
      else {
        const left = f.value(minimum(i32.sub(i32.const(across.size), i32.mul(group, i32.const(4))), i32.const(4)));
        f.when(i32.eq(left, i32.const(4)), whole, () => single(left, along.size));
      }
    },
  };
}

function rowStarts(
  f: FunctionBuilder,
  outer: readonly Axis[],
  x: I32,
  y: I32,
  row: I32,
  bytes: number,
): readonly [source: Local<"i32">, target: Local<"i32">] {
  const coordinates = unravel(
    f,
    row,
    outer.map(({ size }) => size),
  );
  const start = (base: I32, operand: 0 | 1): Local<"i32"> =>
    f.value(
      addressAt(
        base,
        coordinates,
        outer.map(({ strides }) => at(strides, operand) * bytes),
      ),
    );
  return [start(x, 0), start(y, 1)];
}
