/** The best of many by their scores, kept in order while they come: no list of all is made or sorted. */

export interface Scored<Item> {
  readonly item: Item;
  readonly score: number;
}

export class TopK<Item> {
  readonly #limit: number;
  readonly #kept: Scored<Item>[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether one with this score would be kept: worth asking before an item is made. */
  accepts(score: number): boolean {
    const last = this.#kept.at(-1);
    return this.#limit > 0 && (this.#kept.length < this.#limit || last === undefined || score > last.score);
  }

  /** Of equal scores the one that came first stays first. */
  add(score: number, item: Item): void {
    if (!this.accepts(score)) return;
    let [low, high] = [0, this.#kept.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#kept[middle]?.score ?? Number.NEGATIVE_INFINITY) >= score) low = middle + 1;
      else high = middle;
    }
    this.#kept.splice(low, 0, { item, score });
    if (this.#kept.length > this.#limit) this.#kept.pop();
  }

  /** Best first. */
  get ranked(): readonly Scored<Item>[] {
    return this.#kept;
  }
}
