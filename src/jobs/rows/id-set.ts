/** Set of the ids of rows, as 64-bit hashes: 24 bytes per id on average, whatever its length. */
import { createHash } from "node:crypto";

const initialSlots = 1024;
/** Part of the slots that is used before the table doubles. */
const maxLoad = 0.6;

/**
 * A hash set with linear probing. Two different ids are taken for one with a probability of n^2 / 2^65: 3 in 10^8 for a million ids, 3 in 10^4 for a hundred
 * million.
 */
export class IdSet {
  #slots = new Uint32Array(2 * initialSlots);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds an id. False if it is there already. The number 1 and the text "1" are different ids. */
  add(id: string | number): boolean {
    const digest = createHash("sha1")
      .update(typeof id === "number" ? `#${id}` : `"${id}`)
      .digest();
    const isNew = insert(this.#slots, digest.readUInt32LE(0), digest.readUInt32LE(4) || 1);
    if (!isNew) return false;
    this.#size += 1;
    if (this.#size > (this.#slots.length / 2) * maxLoad) this.#grow();
    return true;
  }

  #grow(): void {
    const [before, grown] = [this.#slots, new Uint32Array(this.#slots.length * 2)];
    for (let at = 0; at < before.length; at += 2) {
      const second = before[at + 1] ?? 0;
      if (second !== 0) insert(grown, before[at] ?? 0, second);
    }
    this.#slots = grown;
  }
}

/** A slot is two words; the second is 0 in an empty one. */
function insert(slots: Uint32Array, first: number, second: number): boolean {
  const mask = slots.length / 2 - 1;
  for (let slot = first & mask; ; slot = (slot + 1) & mask) {
    const at = 2 * slot;
    if (slots[at + 1] === 0) {
      slots[at] = first;
      slots[at + 1] = second;
      return true;
    }
    if (slots[at] === first && slots[at + 1] === second) return false;
  }
}
