/** Writes GGUF files, version 3, little-endian (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). */
import { ggmlTypeNumber } from "./ggml-types.ts";
import { type NumberTypeName, numberTypes } from "../number-types.ts";
import { type GgufArray, type GgufScalar, type GgufValue, typeNames } from "./gguf-metadata.ts";

/** A tensor to write. */
export interface GgufTensorSource {
  readonly name: string;
  /** The type in the spelling of ggml: "F32", "Q4_K", ... */
  readonly type: string;
  /** The innermost dimension first. */
  readonly shape: readonly number[];
  /** Bytes of its elements. */
  readonly bytes: number;
  /** Returns these bytes. Called once, in the order of the tensors. */
  read(): Uint8Array;
}

const alignment = 32;

const typeNumbers: ReadonlyMap<string, number> = new Map(typeNames.map((name, number) => [name, number]));

/**
 * The bytes of a GGUF file, in parts: its header, then each tensor with the padding after it. Arrays and strings in `metadata` must be whole (`readGguf` with
 * "everything").
 */
export function* ggufParts(
  metadata: ReadonlyMap<string, GgufValue>,
  tensors: readonly GgufTensorSource[],
): Generator<Uint8Array, void, void> {
  yield header(metadata, tensors);
  for (const { bytes, read, name } of tensors) {
    const data = read();
    if (data.length !== bytes) throw new Error(`the tensor ${name} has ${data.length} bytes, and ${bytes} were announced`);
    yield data;
    yield new Uint8Array(padded(bytes) - bytes);
  }
}

function padded(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

function header(metadata: ReadonlyMap<string, GgufValue>, tensors: readonly GgufTensorSource[]): Uint8Array {
  const kept = [...metadata].filter(([key]) => key !== "general.alignment");
  const writer = new HeaderWriter();
  writer.bytes(new TextEncoder().encode("GGUF"));
  writer.number("uint32", 3);
  writer.number("uint64", tensors.length);
  writer.number("uint64", kept.length);
  for (const [key, value] of kept) {
    writer.text(key);
    writer.value(value);
  }
  let offset = 0;
  for (const { name, type, shape, bytes } of tensors) {
    writer.text(name);
    writer.number("uint32", shape.length);
    for (const size of shape) writer.number("uint64", size);
    writer.number("uint32", ggmlTypeNumber(type));
    writer.number("uint64", offset);
    offset += padded(bytes);
  }
  return writer.finish();
}

/** Writes values one after the other into a growing buffer. */
class HeaderWriter {
  #buffer = new Uint8Array(65_536);
  #length = 0;

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length).buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Integers beyond 2^53 are strings of digits, and values that are not finite are strings. */
  number(type: NumberTypeName, value: GgufScalar): void {
    const { bytes, write } = numberTypes[type];
    write(this.#reserve(bytes).view, this.#length, value, true);
    this.#length += bytes;
  }

  text(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.number("uint64", bytes.length);
    this.bytes(bytes);
  }

  value(value: GgufValue): void {
    this.number("uint32", typeNumbers.get(value.type) ?? 0);
    if (value.type === "array") this.#array(value);
    else if (value.type === "string") this.text(value.value);
    else this.#scalar(value.type, value.value);
  }

  /** The bytes, padded to the alignment. */
  finish(): Uint8Array {
    this.bytes(new Uint8Array(padded(this.#length) - this.#length));
    return this.#buffer.slice(0, this.#length);
  }

  #array({ of, length, items }: GgufArray): void {
    if (items.length !== length) throw new Error(`an array of ${length} elements was kept in part`);
    this.number("uint32", typeNumbers.get(of) ?? 0);
    this.number("uint64", length);
    for (const item of items) {
      if (typeof item === "object") this.#array(item);
      else this.#scalar(of, item);
    }
  }

  #scalar(type: string, value: GgufScalar): void {
    if (type === "string") this.text(String(value));
    else if (type === "bool") this.number("uint8", value === true ? 1 : 0);
    else this.number(type as NumberTypeName, value);
  }

  /** Makes room for `bytes` more. */
  #reserve(bytes: number): { readonly buffer: Uint8Array; readonly view: DataView } {
    if (this.#length + bytes > this.#buffer.length) {
      const larger = new Uint8Array(2 * (this.#length + bytes));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    return { buffer: this.#buffer, view: new DataView(this.#buffer.buffer) };
  }
}
