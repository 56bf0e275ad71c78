/** Allocates blocks within the regions of a shared memory that belong to one replica. */
import { FreeList } from "./free-list.ts";
import type { Region, RegionTable } from "./region-table.ts";

/** Block allocator of one replica. Offsets are bytes from the start of the memory. */
export class BlockAllocator {
  readonly #regions: RegionTable;
  readonly #ownRegions: Region[] = [];
  readonly #free = new FreeList();

  constructor(regions: RegionTable) {
    this.#regions = regions;
  }

  /**
   * The offset of a block of `bytes` bytes with undefined content, reserved until it is freed. When no free block fits, a region is extended or a new
   * one of `regionBytes` bytes is claimed. Throws OUT_OF_MEMORY.
   */
  allocate(bytes: number, regionBytes: number = bytes): number {
    for (;;) {
      const start = this.#free.allocate(bytes);
      if (start !== undefined) return start;
      this.#grow(bytes, Math.max(bytes, regionBytes));
    }
  }

  /** Returns a block. `bytes` must be the size it was allocated with. */
  free(start: number, bytes: number): void {
    this.#free.free(start, bytes);
  }

  /** Makes the regions readable by all replicas for good. Free blocks within them remain allocatable by this replica. */
  publish(): void {
    for (const region of this.#ownRegions) this.#regions.publish(region);
  }

  /** Extends the last region where possible, so that a growing block leaves no gap behind it; else claims a new region. */
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
