/**
 * Reads a protobuf file field by field without loading it (https://protobuf.dev/programming-guides/encoding): what is skipped is
 * not read, so a graph with gigabytes of weights costs a few thousand bytes.
 */
import type { FileWindow } from "../file-window.ts";

export interface ProtobufField {
  readonly number: number;
  /** 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes. */
  readonly wireType: number;
  /** Byte range of the content in the file. */
  readonly start: number;
  readonly end: number;
  /** Of a varint, unsigned; else 0. Above 2^53 its last digits are lost, which no size or type needs. */
  readonly value: number;
}

/** Bytes of the longest varint. */
const maxVarintBytes = 10;
/** The longest name; a longer one is no name. */
const maxTextBytes = 64 * 1024;

/** Throws Error when the bytes cannot be protobuf or end too early. */
export class ProtobufFile {
  readonly #window: FileWindow;

  constructor(window: FileWindow) {
    this.#window = window;
  }

  get size(): number {
    return this.#window.size;
  }

  /** The fields of the message in this range, which must end where the range ends. */
  async *fields(start: number, end: number): AsyncGenerator<ProtobufField> {
    const window = this.#window;
    for (let position = start; position < end;) {
      const longest = Math.min(2 * maxVarintBytes, end - position);
      if (window.available(position) < longest) await window.load(position, longest);
      window.countItems();
      const field = this.#field(position, end);
      yield field;
      position = field.end;
    }
  }

  async text(field: ProtobufField): Promise<string> {
    const length = field.end - field.start;
    if (field.wireType !== 2) throw new Error(`it has a number in the place of a name at byte ${field.start}`);
    if (length > maxTextBytes) throw new Error(`it has a name of ${length} bytes at byte ${field.start}`);
    return await this.#window.text(field.start, length);
  }

  /** The numbers of a repeated field, which may be packed into one field or come one by one. */
  async numbers(field: ProtobufField): Promise<number[]> {
    if (field.wireType === 0) return [field.value];
    const numbers: number[] = [];
    for (let position = field.start; position < field.end;) {
      const longest = Math.min(maxVarintBytes, field.end - position);
      if (this.#window.available(position) < longest) await this.#window.load(position, longest);
      this.#window.countItems();
      const next = this.#afterVarint(position, field.end);
      numbers.push(this.#varint(position, next));
      position = next;
    }
    return numbers;
  }

  /** The field at `position`, whose key and length are in the window. */
  #field(position: number, end: number): ProtobufField {
    const content = this.#afterVarint(position, end);
    const key = this.#varint(position, content);
    const number = Math.floor(key / 8);
    const wireType = key % 8;
    let start = content;
    let stop = content + (wireType === 1 ? 8 : 4);
    let value = 0;
    if (wireType === 0 || wireType === 2) {
      const next = this.#afterVarint(content, end);
      value = this.#varint(content, next);
      stop = next;
      if (wireType === 2) {
        start = next;
        stop = next + value;
        value = 0;
      }
    } else if (wireType !== 1 && wireType !== 5) {
      throw new Error(`it has an unknown kind of field at byte ${content}`);
    }
    if (number === 0 || stop > end) throw new Error(`it is damaged, or ends too early, at byte ${position}`);
    return { number, wireType, start, end: stop, value };
  }

  /** The end of the varint at `position`: its last byte is below 128. */
  #afterVarint(position: number, end: number): number {
    const last = Math.min(end, position + maxVarintBytes);
    for (let next = position; next < last; next += 1) if (this.#window.byte(next) < 128) return next + 1;
    throw new Error(`it is damaged, or ends too early, at byte ${position}`);
  }

  /** Seven bits per byte, lowest first. */
  #varint(position: number, end: number): number {
    let value = 0;
    for (let at = end - 1; at >= position; at -= 1) value = value * 128 + (this.#window.byte(at) % 128);
    return value;
  }
}
