/** A free list of memory blocks with best-fit allocation and merging of neighbours. */

interface Block {
  readonly start: number;
  readonly bytes: number;
}

/** Free blocks of one memory. Offsets and sizes are bytes. */
export class FreeList {
  /** Sorted by start; no two blocks touch. */
  #blocks: readonly Block[] = [];

  /** The start of `bytes` bytes, cut off the smallest block that holds them; undefined when there is none. */
  allocate(bytes: number): number | undefined {
    const [best] = this.#blocks.filter((block) => block.bytes >= bytes).toSorted((one, other) => one.bytes - other.bytes);
    if (best === undefined) return undefined;
    const rest: Block = { start: best.start + bytes, bytes: best.bytes - bytes };
    this.#blocks = this.#blocks.flatMap((block) => (block !== best ? [block] : rest.bytes > 0 ? [rest] : []));
    return best.start;
  }

  /** Size in bytes of the free block that ends at `end`; 0 when there is none. */
  bytesEndingAt(end: number): number {
    return this.#blocks.find((block) => block.start + block.bytes === end)?.bytes ?? 0;
  }

  /** Adds a block, merged with free neighbours. */
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
