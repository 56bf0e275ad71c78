/** The merges of BPE: a hash table from a pair of tokens to the rank of its merge, without an object per merge. */

export class MergeTable {
  /** The token that each merge makes, by rank. */
  readonly made: Int32Array;
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #ranks: Int32Array;
  readonly #mask: number;

  /** `merges`: left id, right id and id of what they make, flattened, in the order of their ranks. */
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
      // Of a merge that is listed twice the last one counts.
      this.#ranks[slot] = rank;
      this.made[rank] = merges[3 * rank + 2] as number;
    }
  }

  /** -1 where the two are never merged. */
  rankOf(left: number, right: number): number {
    const slot = this.#slotOf(left, right);
    return this.#left[slot] === -1 ? -1 : (this.#ranks[slot] as number);
  }

  /** Where a pair is, or would be. */
  #slotOf(left: number, right: number): number {
    let slot = (Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 7;
    for (slot &= this.#mask; this.#left[slot] !== -1; slot = (slot + 1) & this.#mask)
      if (this.#left[slot] === left && this.#right[slot] === right) break;
    return slot;
  }
}
