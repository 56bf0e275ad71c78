/**
 * Random access to a file through a buffer of 16 KiB: only the bytes around what is looked at are read. Bytes in the buffer are read
 * synchronously, so that a header of a million small fields does not cost a million promises.
 */
import { InferyardError } from "../contract/errors.ts";
import { type OpenFile, openFile } from "../platform/node/files.ts";
import type { ByteSource } from "./byte-source.ts";
import { parseError } from "./format-errors.ts";

/** Bytes of one read. The gaps between the tensors of a file are small, so a larger buffer would mostly read tensor data. */
const windowBytes = 16 * 1024;

/**
 * Limits on what one header may hold, above what real models need: a node of an ONNX graph has about 15 fields, so a graph of 100,000
 * nodes passes, which are 350,000 messages. Reading 2 million fields takes one to two seconds. Messages, names and texts are kept in memory.
 */
const maxItems = 2_000_000;
const maxMessages = 500_000;
const maxTextBytes = 64 * 1024 * 1024;
/** Memory that a message with its lists takes, in bytes. */
const messageBytes = 512;
/** Memory that a text takes beside its characters, in bytes. */
const textOverheadBytes = 32;
/** Fields read between two checks of the time limit. */
const itemsPerTimeCheck = 4096;

/** Limits on the memory and time that parsing one file may take. */
export interface ParseBudget {
  /** Adds to the bytes held. Throws if they exceed the limit. `what` names them in the error. */
  chargeStep(bytes: number, what: string): void;
  /** Throws if the time is up or the work was aborted. */
  checkTime(): void;
}

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
  readonly #displayName: string;
  readonly #budget: ParseBudget | undefined;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #start = 0;
  #length = 0;
  #items = 0;
  #messages = 0;
  #textBytes = 0;

  /**
   * `size` is the size of the file in bytes, `displayName` its path as the user wrote it. `budget` is charged for what is read before it is decoded.
   * Default: the limits of the window alone.
   */
  constructor(size: number, displayName: string, budget?: ParseBudget) {
    this.size = size;
    this.#displayName = displayName;
    this.#budget = budget;
  }

  /** Position in the file of the first byte of `buffer`. */
  get start(): number {
    return this.#start;
  }

  /** Number of bytes from `position` on that are in the buffer. */
  available(position: number): number {
    return position < this.#start ? 0 : Math.max(0, this.#start + this.#length - position);
  }

  /** Runs a reader, and loads the ranges of `file` that it needs. */
  async run<Result>(reading: Reading<Result>, file: OpenFile): Promise<Result> {
    for (;;) {
      const { done, value } = reading.next();
      if (done === true) return value;
      if (this.#has(value)) continue;
      const { bytesRead } = await file.read(this.buffer, 0, windowBytes, value.position);
      this.#loaded(value, bytesRead);
    }
  }

  /** Runs a reader as `run` does, on a file that is read without waiting. */
  runNow<Result>(reading: Reading<Result>, file: ByteSource): Result {
    for (;;) {
      const { done, value } = reading.next();
      if (done === true) return value;
      if (this.#has(value)) continue;
      const length = Math.min(windowBytes, this.size - value.position);
      file.read(this.buffer.subarray(0, length), value.position);
      this.#loaded(value, length);
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
    this.charge(textOverheadBytes + length, "texts of the file");
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
    if (this.#items % itemsPerTimeCheck === 0) this.#budget?.checkTime();
  }

  /** Adds to the number of messages read, which is limited to 500,000. */
  countMessage(): void {
    this.#messages += 1;
    if (this.#messages > maxMessages) throw this.#limitExceeded(`more than ${maxMessages} messages`);
    this.charge(messageBytes, "messages of the file");
  }

  /** Charges the budget for bytes of memory. `what` names them in the error. */
  charge(bytes: number, what: string): void {
    this.#budget?.chargeStep(bytes, what);
  }

  /** Whether the range is in the buffer. `length` is at most 16 KiB. */
  #has({ position, length }: NeededBytes): boolean {
    if (position + length > this.size) throw new Error(`it ends too early, after ${this.size} bytes`);
    return this.available(position) >= length;
  }

  /** Takes note of `bytesRead` bytes in the buffer, which must be at least those that are needed. */
  #loaded({ position, length }: NeededBytes, bytesRead: number): void {
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
      const window = new FileWindow(size, displayName);
      return await window.run(read(window), file);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw parseError(displayName, format, error);
  }
}
