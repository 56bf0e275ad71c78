/** Random requests: the same for the same seed. */

/** A generator of random numbers (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `min` to `max`. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** An integer from 1 on: mostly small, at times up to `max`. */
  size(max: number): number {
    return this.integer(1, this.pick([Math.min(max, 4), Math.min(max, 20), max]));
  }

  boolean(): boolean {
    return this.next() < 0.5;
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.integer(0, values.length - 1)]!;
  }
}
