/**
 * Random access to a file through a buffer of 16 KiB: only the bytes around what is looked at are read. Bytes in the buffer are read
 * synchronously, so that a header of a million small fields does not cost a million promises.
 */
import { InferyardError } from "../contract/errors.ts";
import { type OpenFile, openFile } from "../platform/node/files.ts";
import { parseError } from "./format-errors.ts";

/** Bytes of one read. The gaps between the tensors of a file are small, so a larger buffer would mostly read tensor data. */
const windowBytes = 16 * 1024;

/**
 * Limits on what one header may hold, above what real models need: a node of an ONNX graph has about 15 fields, so a graph of 100,000
 * nodes passes. Reading 2 million fields takes one to two seconds. Names and texts are kept in memory.
 */
const maxItems = 2_000_000;
const maxTextBytes = 64 * 1024 * 1024;

/** A range of the file that must be in the buffer before reading continues. `length` is at most 16 KiB. */
export interface NeededBytes {
  readonly position: number;
  readonly length: number;
}

/** A reader of a file as a generator: it stops only where bytes are missing from the buffer, so that a header of many small fields costs no promises. See `FileWindow.run`. */
export type Reading<Result> = Generator<NeededBytes, Result, void>;

/**
 * Buffered access to the header of a model file through a buffer of 16 KiB. Methods throw Error if the file ends before the
 * requested bytes, and MODEL_UNSUPPORTED if the header has more than 2 million fields or too many bytes of text.
 */
export class FileWindow {
  /** Bytes of the file. */
  readonly size: number;
  /** The buffer. Its first byte is the one at `start` in the file; it is reused for each range. */
  readonly buffer: Uint8Array = new Uint8Array(windowBytes);
  readonly #file: OpenFile;
  readonly #displayName: string;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #start = 0;
  #length = 0;
  #items = 0;
  #textBytes = 0;

  /** `size` is the size of the file in bytes, `displayName` its path as the user wrote it. The caller closes the file. */
  constructor(file: OpenFile, size: number, displayName: string) {
    this.#file = file;
    this.size = size;
    this.#displayName = displayName;
  }

  /** Position in the file of the first byte of `buffer`. */
  get start(): number {
    return this.#start;
  }

  /** Number of bytes from `position` on that are in the buffer. */
  available(position: number): number {
    return position < this.#start ? 0 : Math.max(0, this.#start + this.#length - position);
  }

  /** Runs a reader, and loads the ranges that it needs. */
  async run<Result>(reading: Reading<Result>): Promise<Result> {
    for (;;) {
      const { done, value } = reading.next();
      if (done === true) return value;
      await this.#load(value.position, value.length);
    }
  }

  /** A copy of a range of any length. The caller checks `length` against the size of the file first. */
  *readBytes(position: number, length: number): Reading<Uint8Array> {
    const copy = new Uint8Array(length);
    for (let done = 0; done < length;) {
      const piece = Math.min(windowBytes, length - done);
      yield { position: position + done, length: piece };
      const start = position + done - this.#start;
      copy.set(this.buffer.subarray(start, start + piece), done);
      done += piece;
    }
    return copy;
  }

  /** The range decoded as UTF-8; invalid sequences become U+FFFD. Counts towards the limit on text. */
  *readText(position: number, length: number): Reading<string> {
    this.#textBytes += length;
    if (this.#textBytes > maxTextBytes) throw this.#limitExceeded(`more than ${maxTextBytes} bytes of names`);
    if (length > windowBytes) return this.#decoder.decode(yield* this.readBytes(position, length));
    if (this.available(position) < length) yield { position, length };
    const start = position - this.#start;
    return this.#decoder.decode(this.buffer.subarray(start, start + length));
  }

  /** Adds to the number of fields read, which is limited to 2 million. */
  countItems(items = 1): void {
    this.#items += items;
    if (this.#items > maxItems) throw this.#limitExceeded(`more than ${maxItems} entries`);
  }

  /** Reads the range into the buffer unless it is there. `length` is at most 16 KiB. */
  async #load(position: number, length: number): Promise<void> {
    if (position + length > this.size) throw new Error(`it ends too early, after ${this.size} bytes`);
    if (this.available(position) >= length) return;
    const { bytesRead } = await this.#file.read(this.buffer, 0, windowBytes, position);
    this.#start = position;
    this.#length = bytesRead;
    if (bytesRead < length) throw new Error(`it ends too early, after ${position + bytesRead} bytes`);
  }

  #limitExceeded(what: string): InferyardError {
    return new InferyardError("MODEL_UNSUPPORTED", `the header of ${this.#displayName} has ${what}, more than is read`, {
      remedy: "check that this is the model's file; no known model has a header of this size",
    });
  }
}

/**
 * Opens the file at `path`, passes a FileWindow onto it to `read`, and closes it. `shown` is the path as the user wrote it, for
 * messages. Throws MODEL_INVALID if the file cannot be read, or if `read` throws an Error: the file is then not a complete file
 * of `format` ("ONNX", "GGUF"). An InferyardError of `read` passes unchanged.
 */
export async function withFileWindow<Result>(
  path: string,
  displayName: string,
  format: string,
  read: (window: FileWindow) => Reading<Result>,
): Promise<Result> {
  try {
    const file = await openFile(path);
    try {
      const { size } = await file.stat();
      const window = new FileWindow(file, size, displayName);
      return await window.run(read(window));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw parseError(displayName, format, error);
  }
}
