/**
 * A file read through a small window: any range can be looked at, and only the bytes around it are read. What is in the window is
 * read without waiting, so that a header of a million small fields costs no million promises.
 */
import { InferyardError } from "../errors.ts";
import type { OpenFile } from "../platform/node/files.ts";

/** Bytes read at once. Between two weights of a model there is little to read, so more would be waste. */
const windowBytes = 16 * 1024;

/**
 * What one header may cost, above what real models need: a node of a graph has about fifteen fields, so that one of 100,000 nodes
 * passes. Two million fields take one to two seconds; names and texts are kept in memory.
 */
const maxItems = 2_000_000;
const maxTextBytes = 64 * 1024 * 1024;

/** Throws Error where the file ends too early, MODEL_UNSUPPORTED where its header is larger than any real one. */
export class FileWindow {
  readonly size: number;
  readonly #file: OpenFile;
  readonly #shown: string;
  readonly #bytes: Uint8Array = new Uint8Array(windowBytes);
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #start = 0;
  #length = 0;
  #items = 0;
  #textBytes = 0;

  /** `shown` is the path as the user wrote it. */
  constructor(file: OpenFile, size: number, shown: string) {
    this.#file = file;
    this.size = size;
    this.#shown = shown;
  }

  /** Bytes from `position` on that can be looked at without waiting. */
  available(position: number): number {
    return position < this.#start ? 0 : Math.max(0, this.#start + this.#length - position);
  }

  /** Brings a range into the window. At most `windowBytes`. */
  async load(position: number, length: number): Promise<void> {
    if (position + length > this.size) throw new Error(`it ends too early, after ${this.size} bytes`);
    if (this.available(position) >= length) return;
    const { bytesRead } = await this.#file.read(this.#bytes, 0, windowBytes, position);
    this.#start = position;
    this.#length = bytesRead;
    if (bytesRead < length) throw new Error(`it ends too early, after ${position + bytesRead} bytes`);
  }

  /** One byte of the window; 0 outside. */
  byte(position: number): number {
    return this.#bytes[position - this.#start] ?? 0;
  }

  /** A copy of a range, which may be longer than the window. The caller has bounded `length`. */
  async bytes(position: number, length: number): Promise<Uint8Array> {
    const copy = new Uint8Array(length);
    for (let done = 0; done < length;) {
      const piece = Math.min(windowBytes, length - done);
      await this.load(position + done, piece);
      const start = position + done - this.#start;
      copy.set(this.#bytes.subarray(start, start + piece), done);
      done += piece;
    }
    return copy;
  }

  /** UTF-8 text; bytes that are none become U+FFFD. */
  async text(position: number, length: number): Promise<string> {
    this.#textBytes += length;
    if (this.#textBytes > maxTextBytes) throw this.#limitExceeded(`more than ${maxTextBytes} bytes of names`);
    if (length > windowBytes) return this.#decoder.decode(await this.bytes(position, length));
    await this.load(position, length);
    const start = position - this.#start;
    return this.#decoder.decode(this.#bytes.subarray(start, start + length));
  }

  /** Counts what was read. */
  countItems(items = 1): void {
    this.#items += items;
    if (this.#items > maxItems) throw this.#limitExceeded(`more than ${maxItems} entries`);
  }

  #limitExceeded(what: string): InferyardError {
    return new InferyardError("MODEL_UNSUPPORTED", `the header of ${this.#shown} has ${what}, more than is read`, {
      remedy: "check that this is the model's file; none of this size is known",
    });
  }
}
