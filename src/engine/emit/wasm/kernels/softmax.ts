/** Softmax and log-softmax over the last axis, with attention's scale and mask. */
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import type { I32, Local, V128 } from "../assembler/expression.ts";
import { f32x4, v128 } from "../assembler/vector.ts";
import { type Kernel, defineKernel } from "../kernel.ts";
import { clampedExp } from "../math/exponential.ts";
import { log } from "../math/logarithm.ts";
import { advanced, placed, product, unravel } from "./indexing.ts";
import { storeLanes } from "./lanes.ts";
import { floatBytes } from "./matmul-tile.ts";
import { forVectors, loadAt, reduceRow } from "./rows.ts";

export interface SoftmaxRequest {
  /** The last axis is the one that sums to 1. */
  readonly shape: readonly number[];
  readonly logarithm?: boolean;
  /** Multiplies the input; 1 where absent. */
  readonly scale?: number;
  /** Adds a mask after the scale: its steps in elements along every axis of `shape`, 0 where it repeats; the last is 0 or 1. */
  readonly maskStrides?: readonly number[];
}

/** Parameters: x, mask where there is one, y (may be x). Pieces: rows. Error below 4e-7 of each probability, 1.6e-38 where it vanishes. */
export function softmax(request: SoftmaxRequest): Kernel {
  const { shape, logarithm = false, scale = 1, maskStrides } = request;
  const columns = shape.at(-1) ?? 1;
  const rowShape = shape.slice(0, -1);
  return defineKernel({
    family: "softmax",
    request: { shape: maskStrides === undefined ? [product(rowShape), columns] : shape, logarithm, scale, maskStrides },
    inputs: ["x"],
    optional: { mask: maskStrides !== undefined },
    outputs: ["y"],
    pieces: product(rowShape),
    pieceNanoseconds: columns * 1.5 + 10,
    emit(f, { x, y, mask }, from, to) {
      f.range(from, to, 1, (row) => {
        const rowX = f.value(advanced(x, row, columns * floatBytes));
        const rowY = f.value(advanced(y, row, columns * floatBytes));
        const given = mask && f.value(maskRow(f, mask, row, rowShape, maskStrides ?? []));
        const most = f.value(greatest(f, columns, { rowX, rowY, scale, mask: given, maskStep: maskStrides?.at(-1) ?? 0 }));
        if (logarithm) finishLogarithm(f, columns, rowY, most);
        else finish(f, columns, rowY, most);
      });
    },
  });
}

function maskRow(f: FunctionBuilder, mask: I32, row: I32, rowShape: readonly number[], strides: readonly number[]): I32 {
  return placed(
    mask,
    unravel(f, row, rowShape),
    strides.slice(0, -1).map((stride) => stride * floatBytes),
  );
}

interface Given {
  readonly rowX: I32;
  readonly rowY: I32;
  readonly scale: number;
  readonly mask: I32 | undefined;
  readonly maskStep: number;
}

/** Writes the scaled and masked row to y, and gives its greatest element. */
function greatest(f: FunctionBuilder, columns: number, given: Given): V128 {
  const least = f32x4.const(Number.NEGATIVE_INFINITY);
  return reduceRow(f, columns, { combine: f32x4.pmax, identity: least }, (offset, lanes) => {
    const x = loadAt(given.rowX, offset);
    const scaled = given.scale === 1 ? x : f32x4.mul(x, f32x4.const(given.scale));
    const mask = given.mask && (given.maskStep === 0 ? v128.load32Splat(given.mask) : loadAt(given.mask, offset));
    const element = f.value(mask === undefined ? scaled : f32x4.add(scaled, mask));
    storeLanes(f, place(f, given.rowY, offset), element, lanes);
    return element;
  });
}

function finish(f: FunctionBuilder, columns: number, row: I32, most: V128): void {
  const sum = reduceRow(f, columns, { combine: f32x4.add, identity: v128.zero }, (offset, lanes) => {
    const power = clampedExp(f, f32x4.sub(loadAt(row, offset), most));
    storeLanes(f, place(f, row, offset), power, lanes);
    return power;
  });
  const factor = f.value(f32x4.div(f32x4.const(1), sum));
  forVectors(f, columns, (offset, lanes) => {
    const at = place(f, row, offset);
    storeLanes(f, at, f32x4.mul(v128.load(at), factor), lanes);
  });
}

/** x - most - log(sum exp(x - most)) */
function finishLogarithm(f: FunctionBuilder, columns: number, row: I32, most: V128): void {
  const sum = reduceRow(f, columns, { combine: f32x4.add, identity: v128.zero }, (offset) =>
    clampedExp(f, f32x4.sub(loadAt(row, offset), most)),
  );
  const logarithm = log(f, sum);
  forVectors(f, columns, (offset, lanes) => {
    const at = place(f, row, offset);
    storeLanes(f, at, f32x4.sub(f32x4.sub(v128.load(at), most), logarithm), lanes);
  });
}

function place(f: FunctionBuilder, row: I32, offset: I32): Local<"i32"> {
  return f.value(advanced(row, offset, 1));
}
