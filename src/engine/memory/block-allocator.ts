/** Blocks of one copy, cut out of its regions of a memory. */
import { FreeBlocks } from "./free-list.ts";
import type { Region, Regions } from "./region-table.ts";

export class Blocks {
  readonly #regions: Regions;
  readonly #own: Region[] = [];
  readonly #free = new FreeBlocks();

  constructor(regions: Regions) {
    this.#regions = regions;
  }

  /**
   * Where so many bytes start, which nobody else has until they are given back; they hold anything. `atOnce`: bytes of a new region, where it
   * takes one. OUT_OF_MEMORY.
   */
  take(bytes: number, atOnce: number = bytes): number {
    for (;;) {
      const start = this.#free.take(bytes);
      if (start !== undefined) return start;
      this.#enlarge(bytes, Math.max(bytes, atOnce));
    }
  }

  give(start: number, bytes: number): void {
    this.#free.give(start, bytes);
  }

  /** All copies read what lies in the regions so far. What is free in them stays this copy's to fill. */
  publish(): void {
    for (const region of this.#own) this.#regions.publish(region);
  }

  /** The last region grows where it can, so that a block that grows leaves no hole behind it. */
  #enlarge(bytes: number, atOnce: number): void {
    const last = this.#own.at(-1);
    const end = last === undefined ? 0 : last.start + last.bytes;
    const longer = last && this.#regions.extend(last, bytes - this.#free.endingAt(end));
    if (longer !== undefined) {
      this.#own.splice(-1, 1, longer);
      this.#free.give(end, longer.start + longer.bytes - end);
      return;
    }
    const region = this.#regions.take(atOnce);
    this.#own.push(region);
    this.#free.give(region.start, region.bytes);
  }
}
