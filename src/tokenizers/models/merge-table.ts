/** The merges of BPE, in an open-addressing hash table without an object per merge. */

/** Maps a pair of adjacent token ids to the rank of its merge in byte-pair encoding. A lower rank is merged first. */
export class MergeTable {
  /** Id of the merged token, by rank. */
  readonly made: Int32Array;
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #ranks: Int32Array;
  readonly #mask: number;

  /** `merges`: left id, right id and merged id, flattened, by ascending rank. */
  constructor(merges: readonly number[]) {
    const count = merges.length / 3;
    const slots = 2 ** Math.max(4, Math.ceil(Math.log2(2 * count + 1)));
    this.made = new Int32Array(count);
    this.#left = new Int32Array(slots).fill(-1);
    this.#right = new Int32Array(slots);
    this.#ranks = new Int32Array(slots);
    this.#mask = slots - 1;
    for (let rank = 0; rank < count; rank++) {
      const [left, right] = [merges[3 * rank] as number, merges[3 * rank + 1] as number];
      const slot = this.#slotOf(left, right);
      this.#left[slot] = left;
      this.#right[slot] = right;
      // Of duplicate merges the last one counts, as in the Rust library.
      this.#ranks[slot] = rank;
      this.made[rank] = merges[3 * rank + 2] as number;
    }
  }

  /** Rank of the merge of two tokens; -1 if there is none. */
  rankOf(left: number, right: number): number {
    const slot = this.#slotOf(left, right);
    return this.#left[slot] === -1 ? -1 : (this.#ranks[slot] as number);
  }

  /** Slot of a pair, or the free slot for it. */
  #slotOf(left: number, right: number): number {
    let slot = (Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 7;
    for (slot &= this.#mask; this.#left[slot] !== -1; slot = (slot + 1) & this.#mask)
      if (this.#left[slot] === left && this.#right[slot] === right) break;
    return slot;
  }
}
