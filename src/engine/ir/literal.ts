/** Literals: constant tensors of any element type. A `Tensor` of the public API is a literal. */
import { at } from "../../contract/checked.ts";
import { type TensorData, elementCount } from "../../contract/tensor.ts";
import { type ElementType, elementTypes, isBigIntType } from "./element-types.ts";
import { type ElementSource, type Literal, LazyStorage } from "./lazy-storage.ts";
import { decodeFloats, encodeFloat, isStoredAsBits } from "../../contract/small-floats.ts";

export type { Literal } from "./lazy-storage.ts";

/** Literals with fewer elements than this get no lazy storage. */
export const minLazyElements = 4096;

/** An object that two literals share if and only if they share their elements. Does not materialize them. */
export function storageIdentity(literal: Literal): object {
  return literal.storage ?? literal.data;
}

/** The literal with lazy storage, if it is large and not of strings. `source`: where the elements come from once they were released. */
export function withLazyStorage(literal: Literal, source?: ElementSource): Literal {
  const { dataType, shape, storage } = literal;
  if (storage !== undefined || dataType === "string" || elementCount(shape) < minLazyElements) return literal;
  return literalWithStorage(new LazyStorage(literal.data, source), dataType, shape);
}

/** A literal with the elements of `storage`. */
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

/** The result of an analysis of the elements; computed once per lazy storage, and at every call for other literals. */
export function cachedAnalysis<T>(literal: Literal, name: string, compute: () => T): T {
  return literal.storage === undefined ? compute() : literal.storage.analysis(name, compute);
}

/**
 * The elements as numbers; bits of small floating-point types are decoded, int64 and uint64 lose precision beyond 2^53. May share memory with the
 * literal, so must not be written to. Throws TypeError for strings.
 */
export function toNumbers({ dataType, data }: Literal): ArrayLike<number> {
  if (isStoredAsBits(dataType)) return decodeFloats(dataType, data as Uint8Array | Uint16Array);
  if (isBigIntType(dataType)) return Float64Array.from(data as BigInt64Array, Number);
  if (dataType === "string") throw new TypeError("a tensor of strings cannot be read as numbers");
  return data as Float64Array;
}

/** The elements of an int64 or uint64 literal. Shares memory with the literal. Throws TypeError for other types. */
export function toBigints({ dataType, data }: Literal): ArrayLike<bigint> {
  if (!isBigIntType(dataType)) throw new TypeError(`a tensor of ${dataType} cannot be read as bigints`);
  return data as BigInt64Array;
}

/** The elements of a string literal. Throws TypeError for other types. */
export function toStrings({ dataType, data }: Literal): readonly string[] {
  if (dataType !== "string") throw new TypeError(`a tensor of ${dataType} cannot be read as strings`);
  return data as readonly string[];
}

/** One element of a literal. */
export type Element = number | bigint | string;

/** The elements as numbers, bigints or strings, whichever the type has. May share memory with the literal. */
export function getElements(literal: Literal): ArrayLike<Element> {
  if (literal.dataType === "string") return toStrings(literal);
  return isBigIntType(literal.dataType) ? toBigints(literal) : toNumbers(literal);
}

/** The elements as safe integers, for indices, axes and shapes. int64 beyond 2^53 saturates, as in ONNX's Slice with INT64_MAX. */
export function toIntegers(literal: Literal): number[] {
  if (!isBigIntType(literal.dataType)) return Array.from(toNumbers(literal));
  return Array.from(toBigints(literal), (value) => {
    const number = Number(value);
    return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number));
  });
}

/** A literal of the given numbers, rounded to the type; integer types truncate fractions and wrap around. Throws TypeError for strings. */
export function toLiteral(dataType: ElementType, shape: readonly number[], values: ArrayLike<number>): Literal {
  return { dataType, shape, data: storedNumbers(dataType, values) };
}

function storedNumbers(dataType: ElementType, values: ArrayLike<number>): TensorData {
  if (dataType === "string") throw new TypeError("numbers cannot be stored as strings");
  if (isStoredAsBits(dataType)) {
    const coded =
      dataType === "float16" || dataType === "bfloat16" ? new Uint16Array(values.length) : new Uint8Array(values.length);
    for (let index = 0; index < values.length; index += 1) coded[index] = encodeFloat(dataType, values[index] as number, false);
    return coded;
  }
  if (dataType === "int64") return BigInt64Array.from({ length: values.length }, (_, index) => toBigInt(at(values, index)));
  if (dataType === "uint64") return BigUint64Array.from({ length: values.length }, (_, index) => toBigInt(at(values, index)));
  const { array, bits, kind } = elementTypes[dataType];
  if (bits >= 8 && kind !== "bool") return new (array as Float64ArrayConstructor)(values); // the constructor converts as element assignment does
  const stored = new (array as Float64ArrayConstructor)(values.length);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] as number;
    stored[index] = kind === "bool" ? Number(value !== 0) : wrapped(value, bits, kind === "signed");
  }
  return stored;
}

/** A literal of the given bigints, which wrap around to 64 bits. */
export function literalOfBigints(dataType: "int64" | "uint64", shape: readonly number[], values: Iterable<bigint>): Literal {
  return { dataType, shape, data: dataType === "int64" ? BigInt64Array.from(values) : BigUint64Array.from(values) };
}

/** An int64 literal, the type of shapes and indices in ONNX; a vector unless a shape is given. */
export function int64Literal(values: readonly number[], shape: readonly number[] = [values.length]): Literal {
  return toLiteral("int64", shape, values);
}

/** A literal filled with zeros, or with empty strings. */
export function zeroLiteral(dataType: ElementType, shape: readonly number[]): Literal {
  const count = elementCount(shape);
  if (dataType === "string") return { dataType, shape, data: Array.from({ length: count }, () => "") };
  return { dataType, shape, data: new (elementTypes[dataType].array as Float64ArrayConstructor)(count) };
}

/** A new literal of `shape` with the elements of `source` at the given offsets. Copies bits, so nothing is rounded. */
export function pickElements(source: Literal, shape: readonly number[], offsets: ArrayLike<number>): Literal {
  const { dataType, data } = source;
  if (dataType === "string") {
    const strings = toStrings(source);
    return { dataType, shape, data: Array.from(offsets, (offset) => at(strings, offset)) };
  }
  const picked = zeroLiteral(dataType, shape);
  const from = data as Float64Array;
  const to = picked.data as Float64Array; // every typed array is indexed the same way, those of bigints included
  for (let index = 0; index < offsets.length; index += 1) to[index] = from[offsets[index] as number] as number; // per element: unchecked
  return picked;
}

/** The smallest and the largest of the literal's numbers and 0. Computed once for a literal with lazy storage. */
export function rangeIncludingZero(literal: Literal): readonly [min: number, max: number] {
  return cachedAnalysis(literal, "range", () => {
    const numbers = toNumbers(literal);
    let [min, max] = [0, 0];
    for (let index = 0; index < numbers.length; index += 1) {
      const value = numbers[index] ?? 0;
      if (value < min) min = value;
      else if (value > max) max = value;
    }
    return [min, max];
  });
}

/** The same elements in another shape of equal element count. Shares storage. */
export function reshaped(literal: Literal, shape: readonly number[]): Literal {
  const { dataType, storage } = literal;
  return storage === undefined ? { dataType, shape, data: literal.data } : literalWithStorage(storage, dataType, shape);
}

/** Truncated, and saturated to int64 if not finite. */
function toBigInt(value: number): bigint {
  return Number.isFinite(value) ? BigInt(Math.trunc(value)) : value > 0 ? 2n ** 63n - 1n : -(2n ** 63n);
}

/** Truncated and wrapped around to `bits` bits. */
function wrapped(value: number, bits: number, signed: boolean): number {
  const size = 2 ** bits;
  const rest = ((Math.trunc(value) % size) + size) % size;
  return signed && rest >= size / 2 ? rest - size : rest;
}
