/**
 * Reads a protobuf message from a file, field by field. The content of a field that is skipped is never read, so the header of a file with
 * gigabytes of weights costs a few kilobytes of reading.
 */
import { PbfReader } from "pbf";
import type { FileWindow, Reading } from "../file-window.ts";
import {
  lengthDelimited,
  maxHeaderBytes,
  maxVarintBytes,
  type ProtobufField,
  readFieldHeader,
  readVarint,
} from "./wire-format.ts";

/** The beginning of a text, and how long the whole is. */
export interface TextStart {
  readonly value: string;
  readonly bytes: number;
}

/**
 * Reads the fields of a protobuf file through a FileWindow without loading the file. Methods throw Error if the bytes are not
 * valid protobuf or end too early, and MODEL_UNSUPPORTED beyond the limits of FileWindow.
 */
export class ProtobufFile {
  readonly #window: FileWindow;
  readonly #pbf: PbfReader;

  constructor(window: FileWindow) {
    this.#window = window;
    this.#pbf = new PbfReader(window.buffer);
  }

  /** Bytes of the file. */
  get size(): number {
    return this.#window.size;
  }

  /** Goes through the fields of the message in the range from `start` to `end`. The last field must end at `end`. */
  fields(start: number, end: number): FieldCursor {
    return new FieldCursor(this.#window, this.#pbf, start, end);
  }

  /**
   * The content of a string field. Throws Error for a field of another wire type. Texts may have any length: what all texts of the file take together is
   * bounded, see `FileWindow`.
   */
  *text(field: ProtobufField): Reading<string> {
    return (yield* this.textStart(field, Number.POSITIVE_INFINITY)).value;
  }

  /** The first `maxBytes` bytes of a string field, of which no more are read. Throws as `text` does. */
  *textStart(field: ProtobufField, maxBytes: number): Reading<TextStart> {
    const bytes = field.end - field.start;
    if (field.wireType !== lengthDelimited) throw new Error(`it has a number in the place of a name at byte ${field.start}`);
    return { value: yield* this.#window.readText(field.start, Math.min(bytes, maxBytes)), bytes };
  }

  /** The numbers of one field of a repeated integer: one number, or a packed list. */
  *numbers(field: ProtobufField): Reading<number[]> {
    if (field.wireType === 0) return [field.value];
    const window = this.#window;
    const numbers: number[] = [];
    for (let position = field.start; position < field.end;) {
      const bytes = Math.min(maxVarintBytes, field.end - position);
      if (window.available(position) < bytes) yield { position, length: bytes };
      window.countItems();
      numbers.push(readVarint(this.#pbf, window.start, position, field.end));
      position = window.start + this.#pbf.pos;
    }
    return numbers;
  }
}

/** The fields of one message, one after the other. */
export class FieldCursor {
  readonly #window: FileWindow;
  readonly #pbf: PbfReader;
  readonly #end: number;
  #position: number;

  constructor(window: FileWindow, pbf: PbfReader, start: number, end: number) {
    this.#window = window;
    this.#pbf = pbf;
    this.#end = end;
    this.#position = start;
  }

  /** The next field; undefined after the last one. Its content is not read. */
  *next(): Reading<ProtobufField | undefined> {
    const window = this.#window;
    const position = this.#position;
    if (position >= this.#end) return undefined;
    const length = Math.min(maxHeaderBytes, this.#end - position);
    if (window.available(position) < length) yield { position, length };
    window.countItems();
    const field = readFieldHeader(this.#pbf, window.start, position, this.#end);
    this.#position = field.end;
    return field;
  }
}
