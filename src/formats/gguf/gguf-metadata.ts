/** Reads the metadata of a GGUF file: keys with values of thirteen types. Of long strings and arrays only the beginning is kept unless all is asked for, with the length of the whole. */
import type { Reading } from "../file-window.ts";
import { quoteName } from "../format-errors.ts";
import { type NumberTypeName, numberTypes } from "../number-types.ts";
import type { GgufCursor } from "./gguf-cursor.ts";

/**
 * A GGUF metadata value that is not an array. Integers beyond 2^53 and numbers that are not finite are strings; the `type` stored
 * beside the value distinguishes them from text.
 */
export type GgufScalar = number | string | boolean;

/** A value of GGUF metadata with its type. Long strings and arrays are truncated, with their full length beside them. */
export type GgufValue =
  | { readonly type: NumberTypeName | "bool"; readonly value: GgufScalar }
  /** `value` is the beginning of the string, `bytes` the length of the whole string in bytes. */
  | { readonly type: "string"; readonly value: string; readonly bytes: number }
  | GgufArray;

/** The first items of an array of GGUF metadata. */
export interface GgufArray {
  readonly type: "array";
  /** Type of the elements: "uint32", "string", ... */
  readonly of: string;
  /** Number of elements. */
  readonly length: number;
  /** The first elements: at most 1024 numbers, or 8 of any other type. All of them with `keep` "everything". */
  readonly items: readonly (GgufScalar | GgufArray)[];
}

/** Names of the types; the index is the number in the file (`GGUF_METADATA_VALUE_TYPE` of the specification). */
export const typeNames = [
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "float32",
  "bool",
  "string",
  "array",
  "uint64",
  "int64",
  "float64",
] as const;

type TypeName = (typeof typeNames)[number];

/** Limit of the specification. */
const maxKeyBytes = 65_535;
/** Bytes of a string value that are kept. */
const maxKeptTextBytes = 4096;
const maxKeptStrings = 8;
/** Arrays with one number per layer must be kept whole; no model has more layers. */
const maxKeptNumbers = 1024;
/** Cost of a key and its value, in items of `FileWindow.countItems`. */
const itemsPerKey = 5;
/** Deepest nesting of arrays. The format allows arrays of arrays; no known file has any. */
const maxArrayDepth = 8;

/** Which long values are kept: their beginnings; whole strings, such as chat templates, and the beginnings of arrays; or everything, including vocabularies. */
export type KeptMetadata = "beginnings" | "strings" | "everything";

interface KeptLengths {
  readonly textBytes: number;
  readonly strings: number;
  readonly numbers: number;
}

const keptLengths: Readonly<Record<KeptMetadata, KeptLengths>> = {
  beginnings: { textBytes: maxKeptTextBytes, strings: maxKeptStrings, numbers: maxKeptNumbers },
  strings: { textBytes: Number.POSITIVE_INFINITY, strings: maxKeptStrings, numbers: maxKeptNumbers },
  everything: { textBytes: Number.POSITIVE_INFINITY, strings: Number.POSITIVE_INFINITY, numbers: Number.POSITIVE_INFINITY },
};

/**
 * Reads `count` pairs of key and value from the cursor, in the order of the file. Throws Error for a repeated key and for a value
 * of an unknown type.
 */
export function* readGgufMetadata(
  cursor: GgufCursor,
  count: number,
  keep: KeptMetadata = "beginnings",
): Reading<Map<string, GgufValue>> {
  const metadata = new Map<string, GgufValue>();
  for (let index = 0; index < count; index += 1) {
    cursor.countItems(itemsPerKey);
    const { text: key, bytes } = yield* cursor.text("a key", maxKeyBytes);
    if (bytes === 0 || bytes > maxKeyBytes) throw new Error(`metadata ${index} has a key of ${bytes} bytes`);
    if (metadata.has(key)) throw new Error(`the key ${quoteName(key)} comes twice`);
    metadata.set(key, yield* readValue(cursor, yield* readType(cursor, key), key, keptLengths[keep]));
  }
  return metadata;
}

function* readType(cursor: GgufCursor, key: string): Reading<TypeName> {
  const number = yield* cursor.uint32();
  const name = typeNames[number];
  if (name === undefined) throw new Error(`the key ${quoteName(key)} has a value of the unknown type ${number}`);
  return name;
}

function* readValue(cursor: GgufCursor, type: TypeName, key: string, kept: KeptLengths): Reading<GgufValue> {
  if (type === "array") return yield* readArray(cursor, key, kept, 0);
  if (type === "bool") return { type, value: yield* readBool(cursor, key) };
  if (type !== "string") return { type, value: yield* cursor.number(type) };
  const { text, bytes } = yield* cursor.text(`the value of ${quoteName(key)}`, kept.textBytes);
  return { type, value: text, bytes };
}

function* readBool(cursor: GgufCursor, key: string): Reading<boolean> {
  const value = yield* cursor.number("uint8");
  if (value !== 0 && value !== 1) throw new Error(`the truth value of ${quoteName(key)} is ${value}`);
  return value === 1;
}

function* readArray(cursor: GgufCursor, key: string, kept: KeptLengths, depth: number): Reading<GgufArray> {
  if (depth > maxArrayDepth) throw new Error(`the key ${quoteName(key)} nests arrays too deep`);
  cursor.countItems();
  const of = yield* readType(cursor, key);
  const length = yield* cursor.count(`elements of ${quoteName(key)}`, minElementBytes(of, cursor));
  const items: (GgufScalar | GgufArray)[] = [];
  if (of === "string") {
    for (let index = 0; index < length; index += 1) {
      if (index < kept.strings) items.push((yield* cursor.text("an element", kept.textBytes)).text);
      else yield* cursor.skipText("an element");
    }
  } else if (of === "array") {
    for (let index = 0; index < length; index += 1) {
      const item = yield* readArray(cursor, key, kept, depth + 1);
      if (index < kept.strings) items.push(item);
    }
  } else {
    const count = Math.min(length, kept.numbers);
    for (let index = 0; index < count; index += 1) {
      cursor.countItems();
      items.push(of === "bool" ? yield* readBool(cursor, key) : yield* cursor.number(of));
    }
    cursor.skip((length - count) * minElementBytes(of, cursor));
  }
  return { type: "array", of, length, items };
}

/** Bytes of a number; for a string or an array, the bytes of its length and type. */
function minElementBytes(type: TypeName, cursor: GgufCursor): number {
  if (type === "string") return cursor.sizeBytes;
  if (type === "array") return 4 + cursor.sizeBytes;
  return type === "bool" ? 1 : numberTypes[type].bytes;
}

/** The string under a key of GGUF metadata, or undefined if there is none or the value has another type. */
export function ggufText(metadata: ReadonlyMap<string, GgufValue>, key: string): string | undefined {
  const value = metadata.get(key);
  return value?.type === "string" ? value.value : undefined;
}

/**
 * The number under a key of GGUF metadata, or undefined if there is none, the value has another type, or it is an integer beyond
 * 2^53 or not finite.
 */
export function ggufNumber(metadata: ReadonlyMap<string, GgufValue>, key: string): number | undefined {
  const value = metadata.get(key);
  return value !== undefined && value.type !== "array" && typeof value.value === "number" ? value.value : undefined;
}

/** The truth value under a key of GGUF metadata, or undefined if there is none or the value has another type. */
export function ggufBoolean(metadata: ReadonlyMap<string, GgufValue>, key: string): boolean | undefined {
  const value = metadata.get(key);
  return value?.type === "bool" ? value.value === true : undefined;
}

/** The numbers of the array under a key of GGUF metadata, or undefined if there is none, or it was not kept whole, or has other elements. */
export function ggufNumbers(metadata: ReadonlyMap<string, GgufValue>, key: string): readonly number[] | undefined {
  const value = metadata.get(key);
  if (value?.type !== "array" || value.items.length !== value.length) return undefined;
  return value.items.every((item) => typeof item === "number") ? value.items : undefined;
}

/** The strings of the array under a key of GGUF metadata, or undefined if there is none, or it was not kept whole, or has other elements. */
export function ggufTexts(metadata: ReadonlyMap<string, GgufValue>, key: string): readonly string[] | undefined {
  const value = metadata.get(key);
  if (value?.type !== "array" || value.of !== "string" || value.items.length !== value.length) return undefined;
  return value.items as readonly string[];
}
