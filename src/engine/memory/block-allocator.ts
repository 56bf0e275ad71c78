/** Allocates blocks within the regions of a shared memory that belong to one replica. */
import { type Block, FreeList } from "./free-list.ts";
import type { Region, RegionTable } from "./region-table.ts";

/** Allocates blocks of engine memory for one replica. Offsets are bytes from the start of the memory. */
export class BlockAllocator {
  readonly #regions: RegionTable;
  readonly #ownRegions: Region[] = [];
  readonly #free = new FreeList();

  constructor(regions: RegionTable) {
    this.#regions = regions;
  }

  /**
   * Allocates a block of `bytes` bytes with undefined content and returns its byte offset. If no free block is large enough, extends the last region or
   * claims a new one of at least `regionBytes` bytes. Throws OUT_OF_MEMORY if the memory cannot grow.
   */
  allocate(bytes: number, regionBytes: number = bytes): number {
    for (;;) {
      const start = this.#free.allocate(bytes);
      if (start !== undefined) return start;
      this.#grow(bytes, Math.max(bytes, regionBytes));
    }
  }

  /** Frees the block at offset `start`. `bytes` must be the size it was allocated with. */
  free(start: number, bytes: number): void {
    this.#free.free(start, bytes);
  }

  /** The free blocks of this allocator. */
  get freeBlocks(): readonly Block[] {
    return this.#free.blocks;
  }

  /** Makes the regions of this allocator readable by all replicas, permanently. This replica can still allocate the free blocks within them. */
  publish(): void {
    for (const region of this.#ownRegions) this.#regions.publish(region);
  }

  /**
   * Adds free memory for a block of `bytes` bytes: extends the last region if possible, which avoids fragmentation, else claims a region of
   * `regionBytes` bytes.
   */
  #grow(bytes: number, regionBytes: number): void {
    const last = this.#ownRegions.at(-1);
    const end = last === undefined ? 0 : last.start + last.bytes;
    const longer = last && this.#regions.extend(last, bytes - this.#free.bytesEndingAt(end));
    if (longer !== undefined) {
      this.#ownRegions.splice(-1, 1, longer);
      this.#free.free(end, longer.start + longer.bytes - end);
      return;
    }
    const region = this.#regions.claim(regionBytes);
    this.#ownRegions.push(region);
    this.#free.free(region.start, region.bytes);
  }
}
