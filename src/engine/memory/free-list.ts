/** A free list of memory blocks with best-fit allocation and merging of neighbours. */

/** A block of a memory. Offset and size are in bytes. */
export interface Block {
  readonly start: number;
  readonly bytes: number;
}

/** The free blocks of one memory. Offsets and sizes are in bytes. */
export class FreeList {
  /** Sorted by start; no two blocks touch. */
  #blocks: readonly Block[] = [];

  /** The free blocks, sorted by start; no two touch. */
  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  /** Takes `bytes` bytes from the start of the smallest free block that is large enough. Returns their offset, or undefined if no block is large enough. */
  allocate(bytes: number): number | undefined {
    const [best] = this.#blocks.filter((block) => block.bytes >= bytes).toSorted((one, other) => one.bytes - other.bytes);
    if (best === undefined) return undefined;
    const rest: Block = { start: best.start + bytes, bytes: best.bytes - bytes };
    this.#blocks = this.#blocks.flatMap((block) => (block !== best ? [block] : rest.bytes > 0 ? [rest] : []));
    return best.start;
  }

  /** Size in bytes of the free block that ends at offset `end`; 0 if there is none. */
  bytesEndingAt(end: number): number {
    return this.#blocks.find((block) => block.start + block.bytes === end)?.bytes ?? 0;
  }

  /** Adds a free block of `bytes` bytes at offset `start` and merges it with adjacent free blocks. */
  free(start: number, bytes: number): void {
    const sorted = [...this.#blocks, { start, bytes }].toSorted((one, other) => one.start - other.start);
    const merged: Block[] = [];
    for (const block of sorted) {
      const last = merged.at(-1);
      if (last !== undefined && last.start + last.bytes === block.start)
        merged.splice(-1, 1, { start: last.start, bytes: last.bytes + block.bytes });
      else merged.push(block);
    }
    this.#blocks = merged;
  }
}
