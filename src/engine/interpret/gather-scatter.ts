/** Operations that read or write elements at indices given by an input. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { contiguousStrides } from "../ir/broadcast.ts";
import { isBigIntType } from "../ir/element-types.ts";
import {
  toBigints,
  type Literal,
  toLiteral,
  literalOfBigints,
  toNumbers,
  pickElements,
  toStrings,
  toIntegers,
} from "../ir/literal.ts";
import type { Three, Two } from "./operands.ts";
import type { OperationOf, ScatterReduction } from "../ir/operations.ts";

type Literals = readonly Literal[];

/** An index from 0 to size - 1; a negative one counts from the end. Throws if it is out of range. */
function normalizeIndex(index: number, size: number): number {
  const normalized = index < 0 ? index + size : index;
  if (normalized < 0 || normalized >= size) throw new Error(`index ${index} is out of range for an axis of ${size} elements`);
  return normalized;
}

/** Evaluates `gather`: copies whole slices along an axis. A negative index counts from the end. Throws Error for an index out of range. */
export function evaluateGather({ axis }: OperationOf<"gather">, [data, indices]: Two): Literals {
  const size = at(data.shape, axis);
  const inner = elementCount(data.shape.slice(axis + 1));
  const outer = elementCount(data.shape.slice(0, axis));
  const rows = toIntegers(indices).map((index) => normalizeIndex(index, size));
  const offsets = new Float64Array(outer * rows.length * inner);
  let next = 0;
  for (let block = 0; block < outer; block += 1) {
    for (const row of rows) {
      const start = (block * size + row) * inner;
      for (let element = 0; element < inner; element += 1) {
        offsets[next] = start + element;
        next += 1;
      }
    }
  }
  const shape = [...data.shape.slice(0, axis), ...indices.shape, ...data.shape.slice(axis + 1)];
  return [pickElements(data, shape, offsets)];
}

/** Evaluates `gather-elements`: one element of the data for each index. Throws Error for an index out of range. */
export function evaluateGatherElements({ axis }: OperationOf<"gather-elements">, [data, indices]: Two): Literals {
  return [pickElements(data, indices.shape, indexedOffsets(data, indices, axis))];
}

/** For each index, the offset in `data` of the element with the coordinates of the index, except for the index itself along the axis. */
function indexedOffsets(data: Literal, indices: Literal, axis: number): Float64Array {
  const from = contiguousStrides(indices.shape);
  const to = contiguousStrides(data.shape);
  const numbers = toIntegers(indices);
  return Float64Array.from(numbers, (index, element) => {
    let offset = 0;
    let rest = element;
    for (let at = 0; at < from.length; at += 1) {
      const stride = from[at] ?? 1;
      const coordinate = at === axis ? normalizeIndex(index, data.shape[axis] ?? 0) : Math.floor(rest / stride);
      rest %= stride;
      if (coordinate >= (data.shape[at] ?? 0)) throw new Error(`the indices exceed axis ${at} of the data`);
      offset += coordinate * (to[at] ?? 0);
    }
    return offset;
  });
}

/** Evaluates `gather-nd`: copies the blocks whose coordinates are the rows of the indices. Throws Error for an index out of range. */
export function evaluateGatherNd({ batchAxes }: OperationOf<"gather-nd">, [data, indices]: Two): Literals {
  const depth = indices.shape.at(-1) ?? 0;
  const length = elementCount(data.shape.slice(batchAxes + depth));
  const begins = blockOffsets(data, indices, batchAxes);
  const offsets = new Float64Array(begins.length * length);
  for (const [row, start] of begins.entries()) for (let at = 0; at < length; at += 1) offsets[row * length + at] = start + at;
  const shape = [...indices.shape.slice(0, -1), ...data.shape.slice(batchAxes + depth)];
  return [pickElements(data, shape, offsets)];
}

/** The offset of the first element of the block that each row of indices refers to. */
function blockOffsets(data: Literal, indices: Literal, batchAxes: number): number[] {
  const depth = indices.shape.at(-1) ?? 0;
  const rows = elementCount(indices.shape.slice(0, -1));
  const batches = elementCount(indices.shape.slice(0, batchAxes));
  const strides = contiguousStrides(data.shape);
  const numbers = toIntegers(indices);
  const batchSize = elementCount(data.shape.slice(batchAxes));
  return Array.from({ length: rows }, (_, row) => {
    let offset = Math.floor(row / (rows / batches)) * batchSize;
    for (let at = 0; at < depth; at += 1) {
      const axis = batchAxes + at;
      offset += normalizeIndex(numbers[row * depth + at] ?? 0, data.shape[axis] ?? 0) * (strides[axis] ?? 0);
    }
    return offset;
  });
}

/**
 * Evaluates `scatter-elements`: a copy of the data in which each index has its element written or combined by the reduction. Updates are applied in
 * order. Throws Error for an index out of range.
 */
export function evaluateScatterElements(
  { axis, reduction }: OperationOf<"scatter-elements">,
  [data, indices, updates]: Three,
): Literals {
  return [scattered(data, indexedOffsets(data, indices, axis), updates, reduction)];
}

/**
 * Evaluates `scatter-nd`: a copy of the data in which each row of indices has its block written or combined by the reduction. Throws Error for an
 * index out of range.
 */
export function evaluateScatterNd({ reduction }: OperationOf<"scatter-nd">, [data, indices, updates]: Three): Literals {
  const length = elementCount(data.shape.slice(indices.shape.at(-1) ?? 0));
  const begins = blockOffsets(data, indices, 0);
  const offsets = Float64Array.from(
    { length: begins.length * length },
    (_, at) => (begins[Math.floor(at / length)] ?? 0) + (at % length),
  );
  return [scattered(data, offsets, updates, reduction)];
}

const reductions: Readonly<Record<ScatterReduction, (old: number, update: number) => number>> = {
  none: (_, update) => update,
  add: (old, update) => old + update,
  mul: (old, update) => old * update,
  min: Math.min,
  max: Math.max,
};

const bigintReductions: Readonly<Record<ScatterReduction, (old: bigint, update: bigint) => bigint>> = {
  none: (_, update) => update,
  add: (old, update) => old + update,
  mul: (old, update) => old * update,
  min: (old, update) => (update < old ? update : old),
  max: (old, update) => (update > old ? update : old),
};

/** A copy of the data with updates combined into the elements at `offsets`. */
function scattered(data: Literal, offsets: Float64Array, updates: Literal, reduction: ScatterReduction): Literal {
  if (offsets.length !== updates.data.length) throw new Error(`${updates.data.length} updates for ${offsets.length} indices`);
  if (data.dataType === "string") {
    if (reduction !== "none") throw new Error(`reduction "${reduction}" is not defined for strings`);
    const strings = [...toStrings(data)];
    const news = toStrings(updates);
    for (const [at, offset] of offsets.entries()) strings[offset] = news[at] ?? "";
    return { dataType: "string", shape: data.shape, data: strings };
  }
  if (isBigIntType(data.dataType)) {
    const values = Array.from(toBigints(data));
    const news = toBigints(updates);
    for (const [at, offset] of offsets.entries())
      values[offset] = bigintReductions[reduction](values[offset] ?? 0n, news[at] ?? 0n);
    return literalOfBigints(data.dataType, data.shape, values);
  }
  const values = Float64Array.from(toNumbers(data));
  const news = toNumbers(updates);
  for (const [at, offset] of offsets.entries()) values[offset] = reductions[reduction](values[offset] ?? 0, news[at] ?? 0);
  return toLiteral(data.dataType, data.shape, values);
}
