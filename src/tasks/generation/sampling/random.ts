/** The random numbers of sampling. */

/** Converts any integer to an unsigned one of 64 bits. */
const unsigned64 = (value: bigint): bigint => BigInt.asUintN(64, value);

/** Output number `index`, from 0, of the generator SplitMix64 (Steele et al. 2014) with a seed. */
export function splitMix64(seed: bigint, index: number): bigint {
  let word = unsigned64(seed + 0x9e3779b97f4a7c15n * BigInt(index + 1));
  word = unsigned64((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n);
  word = unsigned64((word ^ (word >> 27n)) * 0x94d049bb133111ebn);
  return word ^ (word >> 31n);
}

/** The generator xoshiro128** 1.1 (Blackman and Vigna 2018): 32 bits at a time, the same on every machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** The state: four integers of 32 bits that are not all 0. */
  constructor([a, b, c, d]: readonly [number, number, number, number]) {
    [this.#a, this.#b, this.#c, this.#d] = [a, b, c, d];
  }

  /** A generator whose state is made of the outputs 2 * `stream` and 2 * `stream` + 1 of SplitMix64 with the seed. */
  static seeded(seed: number, stream: number): Random {
    const words = [0, 1].map((index) => splitMix64(BigInt(seed), 2 * stream + index));
    const [a = 0, b = 0, c = 0, d = 0] = words.flatMap((word) => [Number(word & 0xffffffffn), Number(word >> 32n)]);
    return new Random([a, b, c, d]);
  }

  /** An integer from 0 to 2^32 - 1. */
  next(): number {
    const result = Math.imul(rotated(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotated(this.#d, 11);
    return result;
  }

  /** A number in [0, 1) with 53 random bits, from two integers. */
  uniform(): number {
    const high = this.next() >>> 5;
    const low = this.next() >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
