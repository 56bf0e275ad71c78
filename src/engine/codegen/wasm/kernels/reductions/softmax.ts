/** Softmax and log-softmax over the last axis, with the mask of attention. */
import { at } from "../../../../../contract/checked.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { clampedExp } from "../../math/exponential.ts";
import { log } from "../../math/logarithm.ts";
import { type Size, offsetBy, addressAt, product, scaleSize, unravel } from "../loops/addressing.ts";
import { floatBytes, laneCount, storeLanes } from "../loops/lanes.ts";
import { type RowLength, forVectors, loadVector, reduceRow } from "../loops/row-loops.ts";

/** Shape and mask of one softmax kernel over the last axis. x and y are float32 and contiguous. */
export interface SoftmaxRequest {
  /** Shape of x. The last axis is normalized. */
  readonly shape: readonly number[];
  readonly logarithm?: boolean;
  /** Strides in elements of a mask that is added to x, one per axis of `shape`; 0 on broadcast axes. The last one is 0 or 1. Default: no mask. */
  readonly maskStrides?: readonly number[];
}

/**
 * Generates the kernel of softmax along the last axis, with an optional additive mask. Parameters: x, mask if there is one, y (may be x).
 * One piece (unit of parallel work) is one row. Relative error below 4e-7; absolute below 1.6e-38 near 0.
 */
export function softmax(request: SoftmaxRequest): Kernel {
  const { shape, logarithm = false, maskStrides } = request;
  const columns = at(shape, shape.length - 1);
  const rest = columns % laneCount;
  const rowShape = shape.slice(0, -1);
  const maskStep = maskStrides?.at(-1) ?? 0;
  const dynamicSizes: Record<string, number> = { vectors: Math.floor(columns / laneCount) };
  const axes = maskAxes(rowShape, maskStrides, (name, size) => (dynamicSizes[name] = size));
  const mask = axes && { axes: axes.length, step: maskStep };
  return defineKernel({
    family: "softmax",
    request: { rest, logarithm, mask },
    dynamicSizes,
    inputs: ["x"],
    optional: { mask: axes !== undefined },
    outputs: ["y"],
    pieces: product(rowShape),
    pieceNanoseconds: columns * 1.5 + 10,
    machine: { request: { rest, logarithm, mask } },
    emit(f, { x, y, mask: maskAt }, from, to, dynamic) {
      const length: RowLength = { vectors: dynamic["vectors"] ?? i32.const(0), rest };
      const rowBytes = f.value(i32.add(i32.mul(length.vectors, i32.const(laneCount * floatBytes)), i32.const(rest * floatBytes)));
      const dynamicAxes = maskAxes(rowShape, maskStrides, (name, size) => dynamic[name] ?? size);
      f.range(from, to, 1, (row) => {
        const rowX = f.value(offsetBy(x, row, rowBytes));
        const rowY = f.value(offsetBy(y, row, rowBytes));
        const given = maskAt && dynamicAxes && f.value(maskRow(f, maskAt, row, dynamicAxes));
        softmaxRow(f, length, { rowX, rowY, mask: given, maskStep, logarithm });
      });
    },
  });
}

/** One axis of the rows: its size, and the stride of the mask along it. */
interface MaskAxis {
  readonly size: Size;
  readonly stride: Size;
}

function maskAxes(
  rowShape: readonly number[],
  strides: readonly number[] | undefined,
  size: (name: string, value: number) => Size,
): readonly MaskAxis[] | undefined {
  return (
    strides &&
    rowShape.map((each, axis) => ({ size: size(`size${axis}`, each), stride: size(`stride${axis}`, at(strides, axis)) }))
  );
}

function maskRow(f: FunctionBuilder, mask: I32, row: I32, axes: readonly MaskAxis[]): I32 {
  const coordinates = unravel(
    f,
    row,
    axes.map(({ size }) => size),
  );
  return addressAt(
    mask,
    coordinates,
    axes.map(({ stride }) => scaleSize(stride, floatBytes)),
  );
}

/**
 * Addresses and settings of the softmax of one row. `maskStep` is the stride of the mask along the row, 0 or 1; `mask` is undefined without a mask.
 */
export interface SoftmaxRow {
  readonly rowX: I32;
  readonly rowY: I32;
  readonly mask: I32 | undefined;
  readonly maskStep: number;
  readonly logarithm: boolean;
}

/** Generates the softmax or log-softmax of one row of `columns` elements. rowY may equal rowX. */
export function softmaxRow(f: FunctionBuilder, columns: RowLength, row: SoftmaxRow): void {
  const { rowX, rowY, mask, logarithm } = row;
  if (mask === undefined) {
    normalize(f, columns, { from: rowX, to: rowY, max: rowMaximum(f, columns, rowX), logarithm });
    return;
  }
  const max = addMask(f, columns, row, mask);
  normalize(f, columns, { from: rowY, to: rowY, max, logarithm });
}

const maxReducer = { combine: f32x4.pmax, identity: f32x4.const(Number.NEGATIVE_INFINITY) };
const sumReducer = { combine: f32x4.add, identity: v128.zero };

function rowMaximum(f: FunctionBuilder, columns: RowLength, row: I32): Local<"v128"> {
  return reduceRow(f, columns, maxReducer, (offset) => loadVector(row, offset));
}

/** Stores x + mask of one row to y and returns its maximum in every lane. */
function addMask(f: FunctionBuilder, columns: RowLength, given: SoftmaxRow, maskAt: I32): Local<"v128"> {
  return reduceRow(f, columns, maxReducer, (offset, lanes) => {
    const mask = given.maskStep === 0 ? v128.load32Splat(maskAt) : loadVector(maskAt, offset);
    const element = f.value(f32x4.add(loadVector(given.rowX, offset), mask));
    storeLanes(f, place(f, given.rowY, offset), element, lanes);
    return element;
  });
}

interface NormalizedRow {
  readonly from: I32;
  readonly to: I32;
  readonly max: Local<"v128">;
  readonly logarithm: boolean;
}

/** Lower bound of the arguments of `clampedExp`. */
const minExponent = -87;

/** exp(d) / sum exp(d), or its logarithm d - log(sum exp(d)), with d = x - maximum. */
function normalize(f: FunctionBuilder, columns: RowLength, { from, to, max, logarithm }: NormalizedRow): void {
  const below = (offset: I32): V128 => f32x4.sub(loadVector(from, offset), max);
  const power = (offset: I32, lanes: number): V128 => {
    const difference = f.value(below(offset));
    // Exactly 0 below the range, as for masked elements: e^-87 over the sum is subnormal, and products of subnormal numbers take ten times as long.
    const result = f.value(v128.andnot(clampedExp(f, difference), f32x4.lt(difference, f32x4.const(minExponent))));
    if (!logarithm) storeLanes(f, place(f, to, offset), result, lanes);
    return result;
  };
  const sum = reduceRow(f, columns, sumReducer, power, "costly");
  const factor = logarithm ? log(f, sum) : f.value(f32x4.div(f32x4.const(1), sum));
  forVectors(f, columns, (offset, lanes) => {
    const at = place(f, to, offset);
    const result = logarithm ? f32x4.sub(below(offset), factor) : f32x4.mul(v128.load(at), factor);
    storeLanes(f, at, result, lanes);
  });
}

function place(f: FunctionBuilder, row: I32, offset: I32): Local<"i32"> {
  return f.value(offsetBy(row, offset, 1));
}
