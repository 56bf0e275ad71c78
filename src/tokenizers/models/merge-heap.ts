/** Priority queue of BPE merges: lowest rank first, of equal ranks the leftmost. A binary heap with rank and position in one number. */

/** Exclusive maximum of a position in a text. */
const positions = 2 ** 31;

/**
 * Priority queue of the merges that byte-pair encoding may apply to one piece: the lowest rank first, then the leftmost position.
 */
export class MergeHeap {
  #keys = new Float64Array(64);
  #size = 0;

  /** Number of candidates. */
  get size(): number {
    return this.#size;
  }

  /** Adds the merge of the symbol at `position` with the next one. */
  push(rank: number, position: number): void {
    if (this.#size === this.#keys.length) {
      const more = new Float64Array(2 * this.#size);
      more.set(this.#keys);
      this.#keys = more;
    }
    const keys = this.#keys;
    const key = rank * positions + position;
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = keys[parent] as number;
      if (above <= key) break;
      keys[at] = above;
      at = parent;
    }
    keys[at] = key;
  }

  /** Removes and returns the next merge; the heap must not be empty. */
  pop(): { readonly rank: number; readonly position: number } {
    const keys = this.#keys;
    const first = keys[0] as number;
    const last = keys[--this.#size] as number;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && (keys[child + 1] as number) < (keys[child] as number)) child++;
      const below = keys[child] as number;
      if (below >= last) break;
      keys[at] = below;
      at = child;
    }
    keys[at] = last;
    const rank = Math.floor(first / positions);
    return { rank, position: first - rank * positions };
  }
}
