/** Reads the values of a GGUF header one after the other. Lengths and counts are compared with the bytes left in the file before they are used. */
import type { FileWindow, Reading } from "../file-window.ts";
import { type NumberTypeName, numberTypes } from "../number-types.ts";

/**
 * How a GGUF file writes numbers. Version 1 has lengths of 32 bits, later versions of 64 bits; since version 3 a file may be
 * big-endian.
 */
export interface GgufEncoding {
  readonly littleEndian: boolean;
  /** Bytes of a length, a count or a dimension. */
  readonly sizeBytes: 4 | 8;
}

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
  *number(type: NumberTypeName): Reading<number | string> {
    const view = this.#scratch;
    const { bytes, read } = numberTypes[type];
    if (this.#window.available(this.#position) < bytes) yield { position: this.#position, length: bytes };
    const offset = this.#position - this.#window.start;
    new Uint8Array(view.buffer).set(this.#window.buffer.subarray(offset, offset + bytes));
    this.#position += bytes;
    const value = read(view, 0, this.#encoding.littleEndian);
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    return Number.isFinite(value) ? value : String(value);
  }

  /** An unsigned 32-bit integer. */
  *uint32(): Reading<number> {
    return Number(yield* this.number("uint32"));
  }

  /** A length or a dimension, of `sizeBytes` bytes. `what` names it in the error for a value beyond 2^53. */
  *size(what: string): Reading<number> {
    const value = yield* this.number(this.#encoding.sizeBytes === 4 ? "uint32" : "uint64");
    if (typeof value === "number") return value;
    throw new Error(`${what} is ${value}`);
  }

  /** A count of items of at least `minBytes` each; throws Error if they do not fit into the rest of the file. */
  *count(what: string, minBytes: number): Reading<number> {
    const count = yield* this.size(`the number of ${what}`);
    const left = this.#window.size - this.#position;
    if (count * minBytes > left) throw new Error(`it claims ${count} ${what}, and has ${left} bytes left`);
    return count;
  }

  /** The first `maxBytes` bytes of a string, decoded as UTF-8, with the length of the whole string in bytes. */
  *text(what: string, maxBytes: number): Reading<{ text: string; bytes: number }> {
    const bytes = yield* this.count(`bytes of ${what}`, 1);
    this.#window.countItems();
    const text = yield* this.#window.readText(this.#position, Math.min(bytes, maxBytes));
    this.#position += bytes;
    return { text, bytes };
  }

  /** Skips a string. */
  *skipText(what: string): Reading<void> {
    this.skip(yield* this.count(`bytes of ${what}`, 1));
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
