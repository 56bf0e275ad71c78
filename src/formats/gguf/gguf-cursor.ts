/** Reads the values of a GGUF header one after the other. Lengths and counts are compared with the bytes left in the file before they are used. */
import type { FileWindow } from "../file-window.ts";

/**
 * How a GGUF file writes numbers. Version 1 has lengths of 32 bits, later versions of 64 bits; since version 3 a file may be
 * big-endian.
 */
export interface GgufEncoding {
  readonly littleEndian: boolean;
  /** Bytes of a length, a count or a dimension. */
  readonly sizeBytes: 4 | 8;
}

/** Number types that GGUF metadata can have. */
export type GgufNumberType =
  | "uint8"
  | "int8"
  | "uint16"
  | "int16"
  | "uint32"
  | "int32"
  | "float32"
  | "uint64"
  | "int64"
  | "float64";

/** Size in bytes of one number of each GGUF number type. */
export const numberBytes: Readonly<Record<GgufNumberType, number>> = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float32: 4,
  uint64: 8,
  int64: 8,
  float64: 8,
};

/**
 * Reads the values of a GGUF header in order; each read advances the position. Methods throw Error if the file ends too early or
 * a count exceeds the bytes that are left, and MODEL_UNSUPPORTED above the limits of FileWindow.
 */
export class GgufCursor {
  readonly #window: FileWindow;
  readonly #encoding: GgufEncoding;
  readonly #scratch: DataView = new DataView(new ArrayBuffer(8));
  #position: number;

  constructor(window: FileWindow, encoding: GgufEncoding, position: number) {
    this.#window = window;
    this.#encoding = encoding;
    this.#position = position;
  }

  /** Position of the next value in the file. */
  get position(): number {
    return this.#position;
  }

  /** Bytes of a length, a count or a dimension in this file. */
  get sizeBytes(): number {
    return this.#encoding.sizeBytes;
  }

  /** A number. Integers beyond 2^53 are returned as a string of decimal digits, and values that are not finite as "NaN", "Infinity" or "-Infinity". */
  async number(type: GgufNumberType): Promise<number | string> {
    const view = this.#scratch;
    const bytes = numberBytes[type];
    if (this.#window.available(this.#position) < bytes) await this.#window.load(this.#position, bytes);
    const offset = this.#position - this.#window.start;
    new Uint8Array(view.buffer).set(this.#window.buffer.subarray(offset, offset + bytes));
    this.#position += bytes;
    const value = readers[type](view, this.#encoding.littleEndian);
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    return Number.isFinite(value) ? value : String(value);
  }

  /** An unsigned 32-bit integer. */
  async uint32(): Promise<number> {
    return Number(await this.number("uint32"));
  }

  /** A length or a dimension, of `sizeBytes` bytes. `what` names it in the error for a value beyond 2^53. */
  async size(what: string): Promise<number> {
    const value = await this.number(this.#encoding.sizeBytes === 4 ? "uint32" : "uint64");
    if (typeof value === "number") return value;
    throw new Error(`${what} is ${value}`);
  }

  /** A count of items of at least `minBytes` each; throws Error if they do not fit into the rest of the file. */
  async count(what: string, minBytes: number): Promise<number> {
    const count = await this.size(`the number of ${what}`);
    const left = this.#window.size - this.#position;
    if (count * minBytes > left) throw new Error(`it claims ${count} ${what}, and has ${left} bytes left`);
    return count;
  }

  /** The first `maxBytes` bytes of a string, decoded as UTF-8, with the length of the whole string in bytes. */
  async text(what: string, maxBytes: number): Promise<{ text: string; bytes: number }> {
    const bytes = await this.count(`bytes of ${what}`, 1);
    this.#window.countItems();
    const text = await this.#window.text(this.#position, Math.min(bytes, maxBytes));
    this.#position += bytes;
    return { text, bytes };
  }

  /** Skips a string. */
  async skipText(what: string): Promise<void> {
    this.skip(await this.count(`bytes of ${what}`, 1));
    this.#window.countItems();
  }

  /** Skips bytes. The caller has checked that the file has them. */
  skip(bytes: number): void {
    this.#position += bytes;
  }

  /** Counts towards the limit of `FileWindow.countItems`; one item is about the cost of a skipped string. */
  countItems(items = 1): void {
    this.#window.countItems(items);
  }
}

const readers: Readonly<Record<GgufNumberType, (view: DataView, littleEndian: boolean) => number | bigint>> = {
  uint8: (view) => view.getUint8(0),
  int8: (view) => view.getInt8(0),
  uint16: (view, little) => view.getUint16(0, little),
  int16: (view, little) => view.getInt16(0, little),
  uint32: (view, little) => view.getUint32(0, little),
  int32: (view, little) => view.getInt32(0, little),
  float32: (view, little) => view.getFloat32(0, little),
  uint64: (view, little) => view.getBigUint64(0, little),
  int64: (view, little) => view.getBigInt64(0, little),
  float64: (view, little) => view.getFloat64(0, little),
};
