/** The merges of BPE, in an open-addressing hash table without an object per merge. */

/**
 * Maps a pair of adjacent token ids to its merge in byte-pair encoding: the id of the token it makes, and its rank. A lower rank is merged first; of merges
 * with one rank the leftmost.
 */
export class MergeTable {
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #made: Int32Array;
  readonly #ranks: Int32Array;
  readonly #mask: number;
  /** Id of the token that the merge of a rank makes; undefined if merges share ranks. */
  readonly #madeByRank: Int32Array | undefined;

  /** `merges`: left id, right id and merged id, flattened. `ranks`: one for each merge. Default: their order. */
  constructor(merges: readonly number[], ranks?: readonly number[]) {
    const count = merges.length / 3;
    const slots = 2 ** Math.max(4, Math.ceil(Math.log2(2 * count + 1)));
    this.#left = new Int32Array(slots).fill(-1);
    this.#right = new Int32Array(slots);
    this.#made = new Int32Array(slots);
    this.#ranks = new Int32Array(slots);
    this.#mask = slots - 1;
    this.#madeByRank = ranks === undefined ? new Int32Array(count) : undefined;
    for (let merge = 0; merge < count; merge++) {
      const [left, right, made] = [merges[3 * merge] as number, merges[3 * merge + 1] as number, merges[3 * merge + 2] as number];
      const slot = this.#getPlace(left, right);
      this.#left[slot] = left;
      this.#right[slot] = right;
      // Of duplicate merges the last one counts, as in the Rust library.
      this.#made[slot] = made;
      this.#ranks[slot] = ranks === undefined ? merge : (ranks[merge] as number);
      if (this.#madeByRank !== undefined) this.#madeByRank[merge] = made;
    }
  }

  /** Slot of the merge of two tokens; -1 if there is none. */
  getSlot(left: number, right: number): number {
    const slot = this.#getPlace(left, right);
    return this.#left[slot] === -1 ? -1 : slot;
  }

  /** Rank of the merge in a slot. */
  rankAt(slot: number): number {
    return this.#ranks[slot] as number;
  }

  /** Id of the token that the merge in a slot makes. */
  madeAt(slot: number): number {
    return this.#made[slot] as number;
  }

  /** Whether the merge in a slot may be applied for a candidate of this rank: both make the same token, or one of equal rank. */
  matches(slot: number, rank: number): boolean {
    return this.#madeByRank === undefined ? this.#ranks[slot] === rank : this.#madeByRank[rank] === this.#made[slot];
  }

  /** Slot of a pair, or the free slot for it. */
  #getPlace(left: number, right: number): number {
    let slot = (Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 7;
    for (slot &= this.#mask; this.#left[slot] !== -1; slot = (slot + 1) & this.#mask)
      if (this.#left[slot] === left && this.#right[slot] === right) break;
    return slot;
  }
}
