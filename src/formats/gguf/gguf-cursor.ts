/** Reads a GGUF file from front to back: numbers, and texts and counts, which are held against the bytes left before they are used. */
import type { FileWindow } from "../file-window.ts";

/** How a file writes what precedes a text or an array: version 1 had 32 bits, in either byte order since version 3. */
export interface GgufEncoding {
  readonly littleEndian: boolean;
  /** Bytes of a length, a count and a dimension. */
  readonly sizeBytes: 4 | 8;
}

/** Number types of the format, with their bytes. */
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

/** Throws Error where the file ends too early or claims more than is left. */
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

  get position(): number {
    return this.#position;
  }

  get sizeBytes(): number {
    return this.#encoding.sizeBytes;
  }

  /** Whole numbers beyond 2^53 come as their decimal digits, and numbers that are none as "NaN", "Infinity" or "-Infinity". */
  async number(type: GgufNumberType): Promise<number | string> {
    const view = this.#scratch;
    const bytes = numberBytes[type];
    if (this.#window.available(this.#position) < bytes) await this.#window.load(this.#position, bytes);
    for (let index = 0; index < bytes; index += 1) view.setUint8(index, this.#window.byte(this.#position + index));
    this.#position += bytes;
    const value = readers[type](view, this.#encoding.littleEndian);
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    return Number.isFinite(value) ? value : String(value);
  }

  /** A 32-bit number without a sign. */
  async uint32(): Promise<number> {
    return Number(await this.number("uint32"));
  }

  /** A length, a count or a dimension, as wide as the version has it. */
  async size(what: string): Promise<number> {
    const value = await this.number(this.#encoding.sizeBytes === 4 ? "uint32" : "uint64");
    if (typeof value === "number") return value;
    throw new Error(`${what} is ${value}`);
  }

  /** A count of things of at least `leastBytes` each, which must fit into the rest of the file. */
  async count(what: string, leastBytes: number): Promise<number> {
    const count = await this.size(`the number of ${what}`);
    const left = this.#window.size - this.#position;
    if (count * leastBytes > left) throw new Error(`it claims ${count} ${what}, and has ${left} bytes left`);
    return count;
  }

  /** A text, of which at most `most` bytes are kept; the whole length comes along. */
  async text(what: string, most: number): Promise<{ text: string; bytes: number }> {
    const bytes = await this.count(`bytes of ${what}`, 1);
    this.#window.countItems();
    const text = await this.#window.text(this.#position, Math.min(bytes, most));
    this.#position += bytes;
    return { text, bytes };
  }

  /** Passes over a text. */
  async skipText(what: string): Promise<void> {
    this.skip(await this.count(`bytes of ${what}`, 1));
    this.#window.countItems();
  }

  /** Passes over bytes, which the caller has held against the bytes left. */
  skip(bytes: number): void {
    this.#position += bytes;
  }

  /** Counts what was read, in entries that cost as much time as a skipped text. */
  countItems(entries = 1): void {
    this.#window.countItems(entries);
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
