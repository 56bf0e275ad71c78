/** Blocks of one copy, cut out of its regions of a memory. */
import { FreeList } from "./free-list.ts";
import type { Region, RegionTable } from "./region-table.ts";

export class BlockAllocator {
  readonly #regions: RegionTable;
  readonly #ownRegions: Region[] = [];
  readonly #free = new FreeList();

  constructor(regions: RegionTable) {
    this.#regions = regions;
  }

  /**
   * Where so many bytes start, which nobody else has until they are given back; they hold anything. `atOnce`: bytes of a new region, where it
   * takes one. OUT_OF_MEMORY.
   */
  allocate(bytes: number, atOnce: number = bytes): number {
    for (;;) {
      const start = this.#free.allocate(bytes);
      if (start !== undefined) return start;
      this.#grow(bytes, Math.max(bytes, atOnce));
    }
  }

  free(start: number, bytes: number): void {
    this.#free.free(start, bytes);
  }

  /** All copies read what lies in the regions so far. What is free in them stays this copy's to fill. */
  publish(): void {
    for (const region of this.#ownRegions) this.#regions.publish(region);
  }

  /** The last region grows where it can, so that a block that grows leaves no hole behind it. */
  #grow(bytes: number, atOnce: number): void {
    const last = this.#ownRegions.at(-1);
    const end = last === undefined ? 0 : last.start + last.bytes;
    const longer = last && this.#regions.extend(last, bytes - this.#free.bytesEndingAt(end));
    if (longer !== undefined) {
      this.#ownRegions.splice(-1, 1, longer);
      this.#free.free(end, longer.start + longer.bytes - end);
      return;
    }
    const region = this.#regions.claim(atOnce);
    this.#ownRegions.push(region);
    this.#free.free(region.start, region.bytes);
  }
}
