/** Operations that take elements from where an input says, or put them there. */
import { elementCount } from "../../tensor.ts";
import { stridesOf } from "../ir/broadcast.ts";
import { isBigIntType } from "../ir/element-types.ts";
import {
  bigintsOf,
  type Literal,
  literalOf,
  literalOfBigints,
  numbersOf,
  pickElements,
  stringsOf,
  integersOf,
} from "../ir/literal.ts";
import type { OperationOf, ScatterReduction } from "../ir/operations.ts";

type Literals = readonly Literal[];

/** An index from -size to size - 1, counted from 0. Error where it is outside. */
function placed(index: number, size: number): number {
  const place = index < 0 ? index + size : index;
  if (place < 0 || place >= size) throw new Error(`the index ${index} is outside of ${size} elements`);
  return place;
}

export function evaluateGather({ axis }: OperationOf<"gather">, [data, indices]: Literals): Literals {
  if (data === undefined || indices === undefined) throw new Error("it lacks an operand");
  const size = data.shape[axis] ?? 0;
  const inner = elementCount(data.shape.slice(axis + 1));
  const outer = elementCount(data.shape.slice(0, axis));
  const rows = integersOf(indices).map((index) => placed(index, size));
  const places = new Float64Array(outer * rows.length * inner);
  let next = 0;
  for (let block = 0; block < outer; block += 1) {
    for (const row of rows) {
      const start = (block * size + row) * inner;
      for (let element = 0; element < inner; element += 1) {
        places[next] = start + element;
        next += 1;
      }
    }
  }
  const shape = [...data.shape.slice(0, axis), ...indices.shape, ...data.shape.slice(axis + 1)];
  return [pickElements(data, shape, places)];
}

export function evaluateGatherElements({ axis }: OperationOf<"gather-elements">, [data, indices]: Literals): Literals {
  if (data === undefined || indices === undefined) throw new Error("it lacks an operand");
  return [pickElements(data, indices.shape, elementPlaces(data, indices, axis))];
}

/** For each index the place in `data` of the element with the same coordinates, but the index along the axis. */
function elementPlaces(data: Literal, indices: Literal, axis: number): Float64Array {
  const from = stridesOf(indices.shape);
  const to = stridesOf(data.shape);
  const numbers = integersOf(indices);
  return Float64Array.from(numbers, (index, element) => {
    let place = 0;
    let rest = element;
    for (let at = 0; at < from.length; at += 1) {
      const stride = from[at] ?? 1;
      const coordinate = at === axis ? placed(index, data.shape[axis] ?? 0) : Math.floor(rest / stride);
      rest %= stride;
      if (coordinate >= (data.shape[at] ?? 0)) throw new Error(`its indices reach outside of axis ${at}`);
      place += coordinate * (to[at] ?? 0);
    }
    return place;
  });
}

export function evaluateGatherNd({ batchAxes }: OperationOf<"gather-nd">, [data, indices]: Literals): Literals {
  if (data === undefined || indices === undefined) throw new Error("it lacks an operand");
  const depth = indices.shape.at(-1) ?? 0;
  const length = elementCount(data.shape.slice(batchAxes + depth));
  const begins = blockPlaces(data, indices, batchAxes);
  const places = new Float64Array(begins.length * length);
  for (const [row, start] of begins.entries()) for (let at = 0; at < length; at += 1) places[row * length + at] = start + at;
  const shape = [...indices.shape.slice(0, -1), ...data.shape.slice(batchAxes + depth)];
  return [pickElements(data, shape, places)];
}

/** Where the block begins that each row of indices names. */
function blockPlaces(data: Literal, indices: Literal, batchAxes: number): number[] {
  const depth = indices.shape.at(-1) ?? 0;
  const rows = elementCount(indices.shape.slice(0, -1));
  const batches = elementCount(indices.shape.slice(0, batchAxes));
  const strides = stridesOf(data.shape);
  const numbers = integersOf(indices);
  const batchSize = elementCount(data.shape.slice(batchAxes));
  return Array.from({ length: rows }, (_, row) => {
    let place = Math.floor(row / (rows / batches)) * batchSize;
    for (let at = 0; at < depth; at += 1) {
      const axis = batchAxes + at;
      place += placed(numbers[row * depth + at] ?? 0, data.shape[axis] ?? 0) * (strides[axis] ?? 0);
    }
    return place;
  });
}

export function evaluateScatterElements(
  { axis, reduction }: OperationOf<"scatter-elements">,
  [data, indices, updates]: Literals,
): Literals {
  if (data === undefined || indices === undefined || updates === undefined) throw new Error("it lacks an operand");
  return [scattered(data, elementPlaces(data, indices, axis), updates, reduction)];
}

export function evaluateScatterNd({ reduction }: OperationOf<"scatter-nd">, [data, indices, updates]: Literals): Literals {
  if (data === undefined || indices === undefined || updates === undefined) throw new Error("it lacks an operand");
  const length = elementCount(data.shape.slice(indices.shape.at(-1) ?? 0));
  const begins = blockPlaces(data, indices, 0);
  const places = Float64Array.from(
    { length: begins.length * length },
    (_, at) => (begins[Math.floor(at / length)] ?? 0) + (at % length),
  );
  return [scattered(data, places, updates, reduction)];
}

const reductions: Readonly<Record<ScatterReduction, (old: number, update: number) => number>> = {
  none: (_, update) => update,
  add: (old, update) => old + update,
  mul: (old, update) => old * update,
  min: Math.min,
  max: Math.max,
};

const wideReductions: Readonly<Record<ScatterReduction, (old: bigint, update: bigint) => bigint>> = {
  none: (_, update) => update,
  add: (old, update) => old + update,
  mul: (old, update) => old * update,
  min: (old, update) => (update < old ? update : old),
  max: (old, update) => (update > old ? update : old),
};

function scattered(data: Literal, places: Float64Array, updates: Literal, reduction: ScatterReduction): Literal {
  if (places.length !== updates.data.length) throw new Error(`${updates.data.length} updates for ${places.length} indices`);
  if (data.dataType === "string") {
    if (reduction !== "none") throw new Error("texts are not added");
    const texts = [...stringsOf(data)];
    const news = stringsOf(updates);
    for (const [at, place] of places.entries()) texts[place] = news[at] ?? "";
    return { dataType: "string", shape: data.shape, data: texts };
  }
  if (isBigIntType(data.dataType)) {
    const values = Array.from(bigintsOf(data));
    const news = bigintsOf(updates);
    for (const [at, place] of places.entries()) values[place] = wideReductions[reduction](values[place] ?? 0n, news[at] ?? 0n);
    return literalOfBigints(data.dataType, data.shape, values);
  }
  const values = Float64Array.from(numbersOf(data));
  const news = numbersOf(updates);
  for (const [at, place] of places.entries()) values[place] = reductions[reduction](values[place] ?? 0, news[at] ?? 0);
  return literalOf(data.dataType, data.shape, values);
}
