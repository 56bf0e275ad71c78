/** Results as plain data: deep copies, so that callers who share a result cannot change each other's, and estimates of size. */
import { InferyardError } from "../../contract/errors.ts";

/** Memory of one entry of a list or an object besides its value, in bytes; an estimate, since JavaScript engines differ. */
const entryBytes = 16;

/**
 * A deep copy of plain data. A typed array that is a view gets a buffer of its own length. `shared` is returned as it is, not copied. Throws
 * CONTRACT_VIOLATION for anything that is not plain data.
 */
export function deepCopy<Value>(value: Value, shared?: object): Value {
  return copyValue(value, shared) as Value;
}

function copyValue(value: unknown, shared: object | undefined): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw notPlain(typeof value);
  if (typeof value !== "object" || value === null || value === shared) return value;
  if (Array.isArray(value)) return value.map((item) => copyValue(item, shared));
  if (isNumbers(value)) return value.slice();
  if (!isPlain(value)) throw notPlain(value.constructor.name);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copyValue(item, shared)]));
}

/** Estimated memory of a copy in bytes, without the memory of `shared`. */
export function estimateMemoryBytes(value: unknown, shared?: object): number {
  if (typeof value === "string") return 2 * value.length;
  if (typeof value !== "object" || value === null || value === shared) return 8;
  if (isNumbers(value)) return value.byteLength;
  let bytes = 0;
  for (const item of Array.isArray(value) ? value : Object.values(value)) bytes += entryBytes + estimateMemoryBytes(item, shared);
  return bytes;
}

/** Characters of a number in JSON with its comma: a float32 widened to float64 has up to 22. */
const numberCharacters = { float: 22, integer: 12 } as const;

/** Estimated size of the value as JSON in bytes, without the size of `shared`. */
export function estimateJsonBytes(value: unknown, shared?: object): number {
  if (typeof value === "string") return 2 * value.length + 3;
  if (typeof value !== "object" || value === null || value === shared) return numberCharacters.float;
  if (isNumbers(value)) {
    const isFloat = value instanceof Float32Array || value instanceof Float64Array;
    return value.length * (isFloat ? numberCharacters.float : numberCharacters.integer);
  }
  if (Array.isArray(value)) {
    if (typeof value[0] === "number") return value.length * numberCharacters.float;
    return value.reduce((sum: number, item) => sum + estimateJsonBytes(item, shared), 2);
  }
  return Object.entries(value).reduce((sum, [name, item]) => sum + name.length + 4 + estimateJsonBytes(item, shared), 2);
}

type Numbers = Exclude<NodeJS.TypedArray, Buffer>;

function isNumbers(value: object): value is Numbers {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function notPlain(what: string): InferyardError {
  return new InferyardError(
    "CONTRACT_VIOLATION",
    `a result that is shared between calls must be plain data, and contains a ${what}`,
  );
}
