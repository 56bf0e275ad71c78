/** Mutations of GGUF headers by their metadata and tensors: the header is read into JSON, changed there and written again. */
import { type Json, mutateJson } from "./mutate-json.ts";
import { mutateBytes } from "./mutate-bytes.ts";
import type { Mutation } from "../target.ts";

/** Bytes of a number of each type but bool (7), text (8) and array (9). */
const widths: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const [text, array] = [8, 9];
/** Elements of an array that are kept: a seed's vocabulary becomes short. */
const keptElements = 16;
/** Bytes of all tensors. */
const maxData = 8192;

/** Bytes that are no GGUF file of version 2 or 3 are changed as bytes. */
export function mutateGguf(input: Uint8Array, mutation: Mutation): Uint8Array {
  const header = readHeader(input);
  if (header === undefined) return mutateBytes(input, mutation);
  return writeHeader(mutateJson(header, { ...mutation, other: readHeader(mutation.other) ?? null }));
}

/** The same header with short arrays and the first three tensors, each of one row of 256 elements. */
export function shortened(input: Uint8Array): Uint8Array {
  const header = readHeader(input);
  if (header === undefined || typeof header !== "object" || header === null || Array.isArray(header)) return input;
  const tensors = listOf(header["tensors"] ?? null)
    .slice(0, 3)
    .map((tensor, index) => ({ name: field(tensor, "name"), shape: [256], type: field(tensor, "type"), offset: index * maxRow }));
  return writeHeader({ ...header, tensors, data: tensors.length * maxRow + 64 });
}

/** Bytes of 256 elements of the widest type, float64. */
const maxRow = 2048;

/** Numbers of 8 bytes are texts of digits: JSON has no room for them. */
function readHeader(bytes: Uint8Array): Json | undefined {
  try {
    const reader = new Reader(bytes);
    if (reader.raw(4).toString("latin1") !== "GGUF") return undefined;
    const version = Number(reader.number(4));
    if (version !== 2 && version !== 3) return undefined;
    const [tensorCount, metadataCount] = [Number(reader.number(8)), Number(reader.number(8))];
    const metadata = Array.from({ length: metadataCount }, () => {
      const key = reader.text();
      const type = Number(reader.number(4));
      return { key, type, value: reader.value(type) };
    });
    const tensors = Array.from({ length: tensorCount }, () => {
      const name = reader.text();
      const dimensions = Number(reader.number(4));
      const shape = Array.from({ length: dimensions }, () => Number(reader.number(8)));
      return { name, shape, type: Number(reader.number(4)), offset: Number(reader.number(8)) };
    });
    return { version, counts: [0, 0], metadata, tensors, data: Math.min(maxData, bytes.length - reader.at) };
  } catch {
    return undefined;
  }
}

class Reader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  raw(length: number): Buffer {
    if (length > this.#bytes.length - this.at) throw new Error("the header ends too early");
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  number(width: number): bigint {
    return this.raw(width).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
  }

  text(): string {
    return this.raw(Number(this.number(8))).toString("latin1");
  }

  value(type: number): Json {
    if (type === text) return this.text();
    if (type !== array) return String(this.number(widths[type] ?? 0));
    const of = Number(this.number(4));
    const length = Number(this.number(8));
    if (length > 1_000_000) throw new Error("the array is too long");
    return { of, items: Array.from({ length }, () => this.value(of)).slice(0, keptElements) };
  }
}

/** Whatever JSON it is: what has another type than the header needs is written as 0 or "". */
function writeHeader(json: Json): Uint8Array {
  const [metadata, tensors] = [listOf(field(json, "metadata")), listOf(field(json, "tensors"))];
  const [moreTensors, moreMetadata] = listOf(field(json, "counts"));
  const parts: Uint8Array[] = [Buffer.from("GGUF"), number(field(json, "version"), 4)];
  parts.push(number(tensors.length + Number(moreTensors ?? 0), 8), number(metadata.length + Number(moreMetadata ?? 0), 8));
  for (const entry of metadata) {
    const type = Number(field(entry, "type"));
    parts.push(string(field(entry, "key")), number(type, 4), value(type, field(entry, "value")));
  }
  for (const tensor of tensors) {
    const shape = listOf(field(tensor, "shape"));
    parts.push(string(field(tensor, "name")), number(shape.length, 4), ...shape.map((size) => number(size, 8)));
    parts.push(number(field(tensor, "type"), 4), number(field(tensor, "offset"), 8));
  }
  const data = Math.min(maxData, Math.max(0, Number(field(json, "data")) || 0));
  return Buffer.concat([...parts, new Uint8Array(data)]);
}

function value(type: number, json: Json, depth = 0): Uint8Array {
  if (type === text) return string(json);
  if (type !== array) return number(json, widths[type] ?? 4);
  const of = Number(field(json, "of"));
  const items = listOf(field(json, "items"));
  const inner = depth < 20 ? items.map((item) => value(of, item, depth + 1)) : [];
  return Buffer.concat([number(of, 4), number(items.length, 8), ...inner]);
}

function field(json: Json, name: string): Json {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? (json[name] ?? null) : null;
}

function listOf(json: Json): Json[] {
  return Array.isArray(json) ? json : [];
}

function string(json: Json): Uint8Array {
  const bytes = Buffer.from(typeof json === "string" ? json : "", "latin1");
  return Buffer.concat([number(bytes.length, 8), bytes]);
}

function number(json: Json, width: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, integerOf(json)));
  return bytes.subarray(0, width);
}

function integerOf(json: Json): bigint {
  if (typeof json === "number") return Number.isFinite(json) ? BigInt(Math.trunc(json)) : 0n;
  return typeof json === "string" && /^-?\d{1,30}$/.test(json) ? BigInt(json) : 0n;
}
