/**
 * Reads a protobuf message from a file, field by field. The content of a field that is skipped is never read, so the header of a file with
 * gigabytes of weights costs a few kilobytes of reading.
 */
import { PbfReader } from "pbf";
import type { FileWindow } from "../file-window.ts";
import {
  lengthDelimited,
  maxHeaderBytes,
  maxVarintBytes,
  type ProtobufField,
  readFieldHeader,
  readVarint,
} from "./wire-format.ts";

/** Largest number of bytes of a text. Names are shorter; longer ones are refused. */
const maxTextBytes = 64 * 1024;

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

  /** The fields of the message in the range from `start` to `end`. The last field must end at `end`. */
  async *fields(start: number, end: number): AsyncGenerator<ProtobufField> {
    const window = this.#window;
    for (let position = start; position < end;) {
      const headerBytes = Math.min(maxHeaderBytes, end - position);
      if (window.available(position) < headerBytes) await window.load(position, headerBytes);
      window.countItems();
      const field = readFieldHeader(this.#pbf, window.start, position, end);
      yield field;
      position = field.end;
    }
  }

  /** The content of a string field. Throws Error for a field of another wire type and for a text of more than 64 KiB. */
  async text(field: ProtobufField): Promise<string> {
    const length = field.end - field.start;
    if (field.wireType !== lengthDelimited) throw new Error(`it has a number in the place of a name at byte ${field.start}`);
    if (length > maxTextBytes) throw new Error(`it has a name of ${length} bytes at byte ${field.start}`);
    return await this.#window.text(field.start, length);
  }

  /** The numbers of one field of a repeated integer: one number, or a packed list. */
  async numbers(field: ProtobufField): Promise<number[]> {
    if (field.wireType === 0) return [field.value];
    const window = this.#window;
    const numbers: number[] = [];
    for (let position = field.start; position < field.end;) {
      const bytes = Math.min(maxVarintBytes, field.end - position);
      if (window.available(position) < bytes) await window.load(position, bytes);
      window.countItems();
      numbers.push(readVarint(this.#pbf, window.start, position, field.end));
      position = window.start + this.#pbf.pos;
    }
    return numbers;
  }
}
