/** The symbols of one piece during BPE merging (`Word` of the Rust library): a linked list in arrays that are reused for every piece. */
import { MergeHeap } from "./merge-heap.ts";
import type { MergeTable } from "./merge-table.ts";

/** Maximum number of symbols for which memory is kept between pieces. */
const keptSymbols = 65_536;

/** The symbols of one piece while byte-pair encoding merges them. Usage: `clear`, `add` for every symbol in order, `merge`. */
export class Symbols {
  readonly #heap = new MergeHeap();
  #room = 64;
  #length = 0;
  /** Per symbol: token id, range [start, end) in the piece, and indices of its neighbours; -1 for none. A symbol merged into its left one has id -1. */
  #ids = new Int32Array(64);
  #starts = new Int32Array(64);
  #ends = new Int32Array(64);
  #next = new Int32Array(64);
  #previous = new Int32Array(64);

  /** Removes all symbols. */
  clear(): void {
    this.#length = 0;
    if (this.#room > keptSymbols) this.#makeRoom(64);
  }

  /** Appends a symbol that covers the units [start, end) of the piece. */
  add(id: number, start: number, end: number): void {
    if (this.#length === this.#room) this.#makeRoom(2 * this.#room);
    const at = this.#length++;
    this.#ids[at] = id;
    this.#starts[at] = start;
    this.#ends[at] = end;
  }

  /** Applies merges in the order of their ranks until none applies, and returns the tokens. O(n log n) in the number of symbols. */
  merge(merges: MergeTable): number[] {
    const [ids, next, previous, heap] = [this.#ids, this.#next, this.#previous, this.#heap];
    const length = this.#length;
    for (let at = 0; at < length; at++) {
      previous[at] = at - 1;
      next[at] = at + 1 < length ? at + 1 : -1;
      if (at + 1 < length) this.#offer(merges, at, at + 1);
    }
    while (heap.size > 0) {
      const { rank, position } = heap.pop();
      const left = ids[position] as number;
      const other = next[position] as number;
      if (left === -1 || other === -1) continue;
      // The candidate is stale if one of its symbols has been merged since.
      const slot = merges.getSlot(left, ids[other] as number);
      if (slot === -1 || !merges.matches(slot, rank)) continue;
      const behind = next[other] as number;
      ids[position] = merges.madeAt(slot);
      ids[other] = -1;
      this.#ends[position] = this.#ends[other] as number;
      next[position] = behind;
      if (behind !== -1) previous[behind] = position;
      if (previous[position] !== -1) this.#offer(merges, previous[position] as number, position);
      if (behind !== -1) this.#offer(merges, position, behind);
    }
    const tokens: number[] = [];
    for (let at = 0; at < length; at++) {
      const id = ids[at] as number;
      if (id !== -1) tokens.push(id, this.#starts[at] as number, this.#ends[at] as number);
    }
    return tokens;
  }

  #offer(merges: MergeTable, left: number, right: number): void {
    const slot = merges.getSlot(this.#ids[left] as number, this.#ids[right] as number);
    if (slot !== -1) this.#heap.push(merges.rankAt(slot), left);
  }

  /** Reallocates the arrays and keeps the symbols. */
  #makeRoom(room: number): void {
    this.#room = room;
    const copied = (numbers: Int32Array): Int32Array<ArrayBuffer> => {
      const copy = new Int32Array(room);
      copy.set(numbers.subarray(0, this.#length));
      return copy;
    };
    this.#ids = copied(this.#ids);
    this.#starts = copied(this.#starts);
    this.#ends = copied(this.#ends);
    this.#next = copied(this.#next);
    this.#previous = copied(this.#previous);
  }
}
