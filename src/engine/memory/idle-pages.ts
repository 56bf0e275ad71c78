/**
 * Returns free pages of engine memory to the operating system after they have been free for a while. A WebAssembly memory cannot shrink, and would
 * otherwise keep its peak size.
 */
import { unrefTimeout } from "../../platform/event-loop.ts";
import type { Block } from "./free-list.ts";

/**
 * Frees the pages of `bytes` bytes at offset `start` of a buffer; the pages read as zeros afterwards. `start` and `bytes` are multiples of
 * `pageBytes`.
 */
export type DiscardPages = (buffer: ArrayBufferLike, start: number, bytes: number) => void;

/** Size of a page of the operating system that `DiscardPages` frees. */
export const pageBytes = 4096;
/** Number of freed bytes that starts the timer. */
const minFreedBytes = 4 * 2 ** 20;
/** Minimum size in bytes of a block that is discarded; smaller blocks are soon used again. */
const minBlockBytes = 256 * 1024;
/** Delay in milliseconds from the start of the timer to discarding, so that memory in frequent use is rarely discarded. */
const idleMs = 2000;

/** Discards the free blocks of one memory. */
export class IdlePages {
  readonly #open: () => Promise<DiscardPages | undefined>;
  readonly #buffer: () => ArrayBufferLike;
  readonly #freeBlocks: () => readonly Block[];
  #freedBytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** `open`: loads `DiscardPages`; resolves with undefined if this machine does not support it. */
  constructor(
    open: () => Promise<DiscardPages | undefined>,
    { buffer, freeBlocks }: { readonly buffer: () => ArrayBufferLike; readonly freeBlocks: () => readonly Block[] },
  ) {
    this.#open = open;
    this.#buffer = buffer;
    this.#freeBlocks = freeBlocks;
  }

  /** Reports that a block of `bytes` bytes was freed. */
  freed(bytes: number): void {
    this.#freedBytes += bytes;
    if (this.#freedBytes < minFreedBytes || this.#timer !== undefined || this.#isClosed) return;
    this.#timer = unrefTimeout(() => void this.#discard(), idleMs);
  }

  /** Stops discarding: the memory now belongs to another owner. */
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
    // No await from here on, so that no free block is allocated meanwhile.
    for (const { start, bytes } of this.#freeBlocks()) {
      const first = Math.ceil(start / pageBytes) * pageBytes;
      const end = Math.floor((start + bytes) / pageBytes) * pageBytes;
      if (end - first >= minBlockBytes) discard(this.#buffer(), first, end - first);
    }
  }
}
