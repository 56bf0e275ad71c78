/** Literals: tensors whose elements are known, of any element type. A Tensor of `tensor.ts` is a literal. */
import type { TensorData } from "../../tensor.ts";
import { elementCount } from "../../tensor.ts";
import { type ElementType, elementTypes, isBigIntType } from "./element-types.ts";
import { type ElementSource, LazyStorage } from "./lazy-storage.ts";
import { decodeFloat, encodeFloat, isStoredAsBits } from "../../formats/floats/small-floats.ts";

/** A dense tensor, row-major. */
export interface Literal {
  readonly dataType: ElementType;
  readonly shape: readonly number[];
  /** May be had anew by asking, where the literal is held: then ask once. */
  readonly data: TensorData;
  /** Of a large one, what gives its elements, so that they can be let go. */
  readonly storage?: LazyStorage;
}

/** Literals of fewer elements are not worth letting go. */
export const minLazyElements = 4096;

/** What two literals have in common that share elements; those that were let go are not asked for. */
export function storageIdentity(literal: Literal): object {
  return literal.storage ?? literal.data;
}

/** The same literal, held if it is large. `source`: where its elements are to be had from, once they were let go. */
export function withLazyStorage(literal: Literal, source?: ElementSource): Literal {
  const { dataType, shape, storage } = literal;
  if (storage !== undefined || dataType === "string" || elementCount(shape) < minLazyElements) return literal;
  return literalWithStorage(new LazyStorage(literal.data, source), dataType, shape);
}

export function literalWithStorage(storage: LazyStorage, dataType: ElementType, shape: readonly number[]): Literal {
  return {
    dataType,
    shape,
    storage,
    get data() {
      return storage.data;
    },
  };
}

/** What `find` says of a literal's elements, remembered where the literal is held. */
export function cachedAnalysis<T>(literal: Literal, name: string, find: () => T): T {
  return literal.storage === undefined ? find() : literal.storage.analysis(name, find);
}

/** Elements of every type but int64, uint64 and string, as numbers. Both views may share memory with the literal: do not write to them. */
export function numbersOf({ dataType, data }: Literal): ArrayLike<number> {
  if (isStoredAsBits(dataType)) return Float64Array.from(data as Uint8Array | Uint16Array, (bits) => decodeFloat(dataType, bits));
  if (isBigIntType(dataType)) return Float64Array.from(data as BigInt64Array, Number);
  if (dataType === "string") throw new TypeError("strings are no numbers");
  return data as Float64Array;
}

export function bigintsOf({ dataType, data }: Literal): ArrayLike<bigint> {
  if (!isBigIntType(dataType)) throw new TypeError(`${dataType} is not held as bigints`);
  return data as BigInt64Array;
}

export function stringsOf({ dataType, data }: Literal): readonly string[] {
  if (dataType !== "string") throw new TypeError(`${dataType} is not text`);
  return data as readonly string[];
}

/** Whole numbers of an index, axis or shape: int64 beyond 2^53 is brought to the ends of the safe range. */
export function integersOf(literal: Literal): number[] {
  if (!isBigIntType(literal.dataType)) return Array.from(numbersOf(literal));
  return Array.from(bigintsOf(literal), (value) => {
    const number = Number(value);
    return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number));
  });
}

/** Rounds to the type; whole numbers wrap around, fractions are cut off. */
export function literalOf(dataType: ElementType, shape: readonly number[], values: ArrayLike<number>): Literal {
  return { dataType, shape, data: storedNumbers(dataType, values) };
}

function storedNumbers(dataType: ElementType, values: ArrayLike<number>): TensorData {
  if (dataType === "string") throw new TypeError("numbers are no text");
  if (isStoredAsBits(dataType)) {
    const coded =
      dataType === "float16" || dataType === "bfloat16" ? new Uint16Array(values.length) : new Uint8Array(values.length);
    for (let index = 0; index < values.length; index += 1) coded[index] = encodeFloat(dataType, values[index] ?? 0, false);
    return coded;
  }
  if (dataType === "int64") return BigInt64Array.from({ length: values.length }, (_, index) => wide(values[index] ?? 0));
  if (dataType === "uint64") return BigUint64Array.from({ length: values.length }, (_, index) => wide(values[index] ?? 0));
  const { array, bits, kind } = elementTypes[dataType];
  if (bits >= 8 && kind !== "bool") return new (array as Float64ArrayConstructor)(values); // converts as each element would be
  const stored = new (array as Float64ArrayConstructor)(values.length);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? 0;
    stored[index] = kind === "bool" ? Number(value !== 0) : wrapped(value, bits, kind === "signed");
  }
  return stored;
}

export function literalOfBigints(dataType: "int64" | "uint64", shape: readonly number[], values: Iterable<bigint>): Literal {
  return { dataType, shape, data: dataType === "int64" ? BigInt64Array.from(values) : BigUint64Array.from(values) };
}

/** A literal of int64, the type of ONNX's shapes and indices. */
export function int64Literal(values: readonly number[], shape: readonly number[] = [values.length]): Literal {
  return literalOf("int64", shape, values);
}

export function zeroLiteral(dataType: ElementType, shape: readonly number[]): Literal {
  const count = elementCount(shape);
  if (dataType === "string") return { dataType, shape, data: Array.from({ length: count }, () => "") };
  return { dataType, shape, data: new (elementTypes[dataType].array as Float64ArrayConstructor)(count) };
}

/** The elements at `positions` of `source`, in a new literal. Types stay, so no rounding comes in. */
export function pickElements(source: Literal, shape: readonly number[], positions: ArrayLike<number>): Literal {
  const { dataType, data } = source;
  if (dataType === "string") {
    const texts = stringsOf(source);
    return { dataType, shape, data: Array.from(positions, (position) => texts[position] ?? "") };
  }
  const picked = zeroLiteral(dataType, shape);
  const from = data as Float64Array;
  const to = picked.data as Float64Array; // all typed arrays copy alike, bigints included
  for (let index = 0; index < positions.length; index += 1) to[index] = from[positions[index] ?? 0] ?? 0;
  return picked;
}

/** The smallest and the largest of the literal's numbers and 0. Computed once for a literal with lazy storage. */
export function rangeIncludingZero(literal: Literal): readonly [min: number, max: number] {
  return cachedAnalysis(literal, "range", () => {
    const numbers = numbersOf(literal);
    let [min, max] = [0, 0];
    for (let index = 0; index < numbers.length; index += 1) {
      const value = numbers[index] ?? 0;
      if (value < min) min = value;
      else if (value > max) max = value;
    }
    return [min, max];
  });
}

/** The same elements in another shape. */
export function reshaped(literal: Literal, shape: readonly number[]): Literal {
  const { dataType, storage } = literal;
  return storage === undefined ? { dataType, shape, data: literal.data } : literalWithStorage(storage, dataType, shape);
}

function wide(value: number): bigint {
  return Number.isFinite(value) ? BigInt(Math.trunc(value)) : value > 0 ? 2n ** 63n - 1n : -(2n ** 63n);
}

function wrapped(value: number, bits: number, signed: boolean): number {
  const size = 2 ** bits;
  const rest = ((Math.trunc(value) % size) + size) % size;
  return signed && rest >= size / 2 ? rest - size : rest;
}
