/**
 * Returns free pages of a memory that cannot shrink to the operating system, once what was freed has stayed free for a while: a WebAssembly memory keeps what its busiest
 * moment took.
 */
import { unrefTimeout } from "../../platform/event-loop.ts";
import type { Block } from "./free-list.ts";

/** Frees the pages of `bytes` bytes at offset `start` of a buffer; they read as zeros afterwards. Both are multiples of `pageBytes`. */
export type DiscardPages = (buffer: ArrayBufferLike, start: number, bytes: number) => void;

/** Size of a page of the operating system that `DiscardPages` frees. */
export const pageBytes = 4096;
/** Freed bytes that start the wait. */
const minFreedBytes = 4 * 2 ** 20;
/** Blocks with fewer bytes are left as they are: they are soon used again. */
const minBlockBytes = 256 * 1024;
/** Time in milliseconds from the first freed block to the discarding, so that memory in frequent use is discarded rarely. */
const idleMs = 2000;

/** Discards the free blocks of one memory. */
export class IdlePages {
  readonly #open: () => Promise<DiscardPages | undefined>;
  readonly #buffer: () => ArrayBufferLike;
  readonly #freeBlocks: () => readonly Block[];
  #freedBytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** `open`: prepares `DiscardPages`; undefined: this machine has none. */
  constructor(
    open: () => Promise<DiscardPages | undefined>,
    { buffer, freeBlocks }: { readonly buffer: () => ArrayBufferLike; readonly freeBlocks: () => readonly Block[] },
  ) {
    this.#open = open;
    this.#buffer = buffer;
    this.#freeBlocks = freeBlocks;
  }

  /** A block of so many bytes was freed. */
  freed(bytes: number): void {
    this.#freedBytes += bytes;
    if (this.#freedBytes < minFreedBytes || this.#timer !== undefined || this.#isClosed) return;
    this.#timer = unrefTimeout(() => void this.#discard(), idleMs);
  }

  /** The memory is used by others from now on. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #discard(): Promise<void> {
    const discard = await this.#open();
    this.#timer = undefined;
    this.#freedBytes = 0;
    if (discard === undefined) this.#isClosed = true;
    if (this.#isClosed || discard === undefined) return;
    // Without a pause from here on: blocks that are free now are used by nobody meanwhile.
    for (const { start, bytes } of this.#freeBlocks()) {
      const first = Math.ceil(start / pageBytes) * pageBytes;
      const end = Math.floor((start + bytes) / pageBytes) * pageBytes;
      if (end - first >= minBlockBytes) discard(this.#buffer(), first, end - first);
    }
  }
}
