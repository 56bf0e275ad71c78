/** Blocks of a memory that were given back, to be given out again. */

interface Block {
  readonly start: number;
  readonly bytes: number;
}

export class FreeList {
  /** By their starts; no two touch. */
  #blocks: readonly Block[] = [];

  /** The start of so many bytes, taken from the smallest block that holds them; undefined where none does. */
  allocate(bytes: number): number | undefined {
    const [best] = this.#blocks.filter((block) => block.bytes >= bytes).toSorted((one, other) => one.bytes - other.bytes);
    if (best === undefined) return undefined;
    const rest: Block = { start: best.start + bytes, bytes: best.bytes - bytes };
    this.#blocks = this.#blocks.flatMap((block) => (block !== best ? [block] : rest.bytes > 0 ? [rest] : []));
    return best.start;
  }

  /** Bytes of the block that ends here; 0 where none does. */
  bytesEndingAt(end: number): number {
    return this.#blocks.find((block) => block.start + block.bytes === end)?.bytes ?? 0;
  }

  /** Neighbours become one. */
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
