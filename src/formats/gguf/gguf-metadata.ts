/** The metadata of a GGUF file: keys with values of thirteen types. Long texts and arrays are kept in part, with their whole length. */
import { type GgufCursor, type GgufNumberType, numberBytes } from "./gguf-cursor.ts";

/** Whole numbers beyond 2^53 and numbers that are none are texts; `type` tells. */
export type GgufScalar = number | string | boolean;

export type GgufValue =
  | { readonly type: GgufNumberType | "bool"; readonly value: GgufScalar }
  /** `bytes` of the whole text; `value` is its beginning. */
  | { readonly type: "string"; readonly value: string; readonly bytes: number }
  | GgufArray;

export interface GgufArray {
  readonly type: "array";
  /** Type of the elements. */
  readonly of: string;
  readonly length: number;
  /** The first elements. */
  readonly items: readonly (GgufScalar | GgufArray)[];
}

/** By the number the file has. */
const typeNames = [
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

/** The specification's limit. */
const maxKeyBytes = 65_535;
/** Of a value, for people to read. */
const maxKeptTextBytes = 4096;
const maxKeptStrings = 8;
/** One number for each layer must be kept whole; no model has more layers. */
const maxKeptNumbers = 1024;
/** What reading a key and its value costs, in skipped texts. */
const itemsPerKey = 5;
/** Arrays of arrays are allowed, and no known file has any. */
const maxArrayDepth = 8;

/** Keys in the order of the file; Error for a key that comes twice. */
export async function readGgufMetadata(cursor: GgufCursor, count: number): Promise<Map<string, GgufValue>> {
  const metadata = new Map<string, GgufValue>();
  for (let index = 0; index < count; index += 1) {
    cursor.countItems(itemsPerKey);
    const { text: key, bytes } = await cursor.text("a key", maxKeyBytes);
    if (bytes === 0 || bytes > maxKeyBytes) throw new Error(`metadata ${index} has a key of ${bytes} bytes`);
    if (metadata.has(key)) throw new Error(`the key ${quote(key)} comes twice`);
    metadata.set(key, await readValue(cursor, await readType(cursor, key), key));
  }
  return metadata;
}

async function readType(cursor: GgufCursor, key: string): Promise<TypeName> {
  const number = await cursor.uint32();
  const name = typeNames[number];
  if (name === undefined) throw new Error(`the key ${quote(key)} has a value of the unknown type ${number}`);
  return name;
}

async function readValue(cursor: GgufCursor, type: TypeName, key: string): Promise<GgufValue> {
  if (type === "array") return await readArray(cursor, key, 0);
  if (type === "bool") return { type, value: await readBool(cursor, key) };
  if (type !== "string") return { type, value: await cursor.number(type) };
  const { text, bytes } = await cursor.text(`the value of ${quote(key)}`, maxKeptTextBytes);
  return { type, value: text, bytes };
}

async function readBool(cursor: GgufCursor, key: string): Promise<boolean> {
  const value = await cursor.number("uint8");
  if (value !== 0 && value !== 1) throw new Error(`the truth value of ${quote(key)} is ${value}`);
  return value === 1;
}

async function readArray(cursor: GgufCursor, key: string, depth: number): Promise<GgufArray> {
  if (depth > maxArrayDepth) throw new Error(`the key ${quote(key)} nests arrays too deep`);
  cursor.countItems();
  const of = await readType(cursor, key);
  const length = await cursor.count(`elements of ${quote(key)}`, minElementBytes(of, cursor));
  const items: (GgufScalar | GgufArray)[] = [];
  if (of === "string") {
    for (let index = 0; index < length; index += 1) {
      if (index < maxKeptStrings) items.push((await cursor.text("an element", maxKeptTextBytes)).text);
      else await cursor.skipText("an element");
    }
  } else if (of === "array") {
    for (let index = 0; index < length; index += 1) {
      const item = await readArray(cursor, key, depth + 1);
      if (index < maxKeptStrings) items.push(item);
    }
  } else {
    const kept = Math.min(length, maxKeptNumbers);
    for (let index = 0; index < kept; index += 1) {
      cursor.countItems();
      items.push(of === "bool" ? await readBool(cursor, key) : await cursor.number(of));
    }
    cursor.skip((length - kept) * minElementBytes(of, cursor));
  }
  return { type: "array", of, length, items };
}

/** A key out of the file, for a message: however long and odd it is. */
function quote(key: string): string {
  return JSON.stringify(key.slice(0, 80));
}

/** Bytes of a number; of a text or an array the bytes of what precedes it. */
function minElementBytes(type: TypeName, cursor: GgufCursor): number {
  if (type === "string") return cursor.sizeBytes;
  if (type === "array") return 4 + cursor.sizeBytes;
  return type === "bool" ? 1 : numberBytes[type];
}

/** A value that is a text. */
export function ggufText(metadata: ReadonlyMap<string, GgufValue>, key: string): string | undefined {
  const value = metadata.get(key);
  return value?.type === "string" ? value.value : undefined;
}

/** A value that is a number. */
export function ggufNumber(metadata: ReadonlyMap<string, GgufValue>, key: string): number | undefined {
  const value = metadata.get(key);
  return value !== undefined && value.type !== "array" && typeof value.value === "number" ? value.value : undefined;
}
