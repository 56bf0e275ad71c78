/**
 * Reads a protobuf file field by field without loading it (https://protobuf.dev/programming-guides/encoding): what is skipped is
 * not read, so a graph with gigabytes of weights costs a few thousand bytes.
 */
import type { FileHandle } from "node:fs/promises";

export interface Field {
  readonly number: number;
  /** 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes. */
  readonly wireType: number;
  /** Byte range of the content in the file. */
  readonly start: number;
  readonly end: number;
  /** Of a varint; else 0. */
  readonly value: number;
}

/** Bytes read at once. Between two weights of a model there is little to read, so more would be waste. */
const windowBytes = 16 * 1024;

/** Throws Error when the bytes cannot be protobuf or end too early. */
export class ProtobufFile {
  readonly size: number;
  readonly #file: FileHandle;
  readonly #window: Buffer = Buffer.alloc(windowBytes);
  #windowStart = 0;
  #windowLength = 0;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  /** The fields of the message in this range, which must end where the range ends. */
  async *fields(start: number, end: number): AsyncGenerator<Field> {
    let position = start;
    while (position < end) {
      const key = await this.#varint(position, end);
      const field = await this.#content(Math.floor(key.value / 8), key.value % 8, key.next, end);
      if (field.number === 0 || field.end > end) throw new Error(`it is damaged, or ends too early, at byte ${position}`);
      yield field;
      position = field.end;
    }
  }

  async text(field: Field): Promise<string> {
    const length = field.end - field.start;
    if (length > windowBytes) throw new Error(`it has a name of ${length} bytes at byte ${field.start}`);
    const offset = await this.#load(field.start, length);
    return this.#window.toString("utf8", offset, offset + length);
  }

  /** The numbers of a repeated field, which may be packed into one field or come one by one. */
  async numbers(field: Field): Promise<number[]> {
    if (field.wireType === 0) return [field.value];
    const numbers: number[] = [];
    for (let position = field.start; position < field.end;) {
      const { value, next } = await this.#varint(position, field.end);
      numbers.push(value);
      position = next;
    }
    return numbers;
  }

  async #content(number: number, wireType: number, start: number, end: number): Promise<Field> {
    if (wireType === 0) {
      const { value, next } = await this.#varint(start, end);
      return { number, wireType, start, end: next, value };
    }
    if (wireType === 1 || wireType === 5) return { number, wireType, start, end: start + (wireType === 1 ? 8 : 4), value: 0 };
    if (wireType !== 2) throw new Error(`it has an unknown kind of field at byte ${start}`);
    const length = await this.#varint(start, end);
    return { number, wireType, start: length.next, end: length.next + length.value, value: 0 };
  }

  /** Seven bits per byte, lowest first. Numbers above 2^53 lose their last digits, which no size or type needs. */
  async #varint(start: number, end: number): Promise<{ value: number; next: number }> {
    const longest = Math.min(10, end - start);
    const offset = await this.#load(start, longest);
    let value = 0;
    for (let index = 0; index < longest; index += 1) {
      const byte = this.#window[offset + index] ?? 0;
      value += (byte % 128) * 2 ** (7 * index);
      if (byte < 128) return { value, next: start + index + 1 };
    }
    throw new Error(`it is damaged, or ends too early, at byte ${start}`);
  }

  /** Brings a range into the window; returns where it begins there. */
  async #load(start: number, length: number): Promise<number> {
    if (start + length > this.size) throw new Error(`it ends too early, after ${this.size} bytes`);
    if (start < this.#windowStart || start + length > this.#windowStart + this.#windowLength) {
      const { bytesRead } = await this.#file.read(this.#window, 0, windowBytes, start);
      if (bytesRead < length) throw new Error(`it ends too early, after ${start + bytesRead} bytes`);
      this.#windowStart = start;
      this.#windowLength = bytesRead;
    }
    return start - this.#windowStart;
  }
}
