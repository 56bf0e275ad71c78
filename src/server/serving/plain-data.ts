/** Answers as plain data: copied, so that nobody changes another's, and measured. */
import { InferyardError } from "../../errors.ts";

/** What an entry of a list or an object takes beside its value, in bytes; roughly, as engines of JavaScript differ. */
const entryBytes = 16;

/**
 * A deep copy. A view has a buffer of its own in the copy, of its length alone. `kept` is not copied: everybody has that object anyway.
 * CONTRACT_VIOLATION for what is not plain data.
 */
export function deepCopy<Value>(value: Value, kept?: object): Value {
  return copyValue(value, kept) as Value;
}

function copyValue(value: unknown, kept: object | undefined): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw notPlain(typeof value);
  if (typeof value !== "object" || value === null || value === kept) return value;
  if (Array.isArray(value)) return value.map((item) => copyValue(item, kept));
  if (isNumbers(value)) return value.slice();
  if (!isPlain(value)) throw notPlain(value.constructor.name);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copyValue(item, kept)]));
}

/** About how many bytes of memory a copy takes. */
export function estimateMemoryBytes(value: unknown, kept?: object): number {
  if (typeof value === "string") return 2 * value.length;
  if (typeof value !== "object" || value === null || value === kept) return 8;
  if (isNumbers(value)) return value.byteLength;
  let bytes = 0;
  for (const item of Array.isArray(value) ? value : Object.values(value)) bytes += entryBytes + estimateMemoryBytes(item, kept);
  return bytes;
}

/** Characters of a number in JSON, with its comma: a float32 that was widened has up to 22. */
const numberCharacters = { float: 22, integer: 12 } as const;

/** About how many bytes the value has as JSON. `kept` is left out. */
export function estimateJsonBytes(value: unknown, kept?: object): number {
  if (typeof value === "string") return 2 * value.length + 3;
  if (typeof value !== "object" || value === null || value === kept) return numberCharacters.float;
  if (isNumbers(value)) {
    const isFloat = value instanceof Float32Array || value instanceof Float64Array;
    return value.length * (isFloat ? numberCharacters.float : numberCharacters.integer);
  }
  if (Array.isArray(value)) {
    if (typeof value[0] === "number") return value.length * numberCharacters.float;
    return value.reduce((sum: number, item) => sum + estimateJsonBytes(item, kept), 2);
  }
  return Object.entries(value).reduce((sum, [name, item]) => sum + name.length + 4 + estimateJsonBytes(item, kept), 2);
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
  return new InferyardError("CONTRACT_VIOLATION", `an answer that is shared must be plain data, and has a ${what} in it`);
}
