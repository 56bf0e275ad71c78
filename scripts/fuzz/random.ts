/** Random numbers of a seed: the same seed gives the same numbers on every machine (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to `limit` - 1; 0 if `limit` is 0. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  /** True once in `count` calls. */
  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

/** Whole numbers at the ends of types and formats. */
export const extremeIntegers: readonly number[] = [
  0,
  1,
  2,
  3,
  7,
  8,
  15,
  16,
  63,
  64,
  127,
  128,
  255,
  256,
  1023,
  4096,
  32767,
  65535,
  65536,
  1e6,
  -1,
  -2,
  -128,
  -(2 ** 31),
  2 ** 24,
  2 ** 26,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 40,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  2 ** 62,
  2 ** 63 - 1024,
  2 ** 64 - 2048,
];
