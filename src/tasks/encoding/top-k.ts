/** Top-k selection over a stream of scored items, without collecting or sorting all of them. */

import { findLowerBound } from "./binary-search.ts";

/** An item with its score. */
export interface Scored<Item> {
  readonly item: Item;
  readonly score: number;
}

/** Keeps the `limit` items with the highest scores. */
export class TopK<Item> {
  readonly #limit: number;
  readonly #kept: Scored<Item>[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether an item with this score would be kept. Allows a caller not to construct items that would be dropped. */
  accepts(score: number): boolean {
    const last = this.#kept.at(-1);
    return this.#limit > 0 && (this.#kept.length < this.#limit || last === undefined || score > last.score);
  }

  /** Adds an item. Of equal scores the item added first ranks first. */
  add(score: number, item: Item): void {
    if (!this.accepts(score)) return;
    const index = findLowerBound(this.#kept, (kept) => kept.score < score);
    this.#kept.splice(index, 0, { item, score });
    if (this.#kept.length > this.#limit) this.#kept.pop();
  }

  /** The items kept, by descending score. */
  get ranked(): readonly Scored<Item>[] {
    return this.#kept;
  }
}
