/** Matsumoto and Nishimura's generator MT19937, https://doi.org/10.1145/272991.272995, seeded as its authors and numpy's `random.seed` do it. */
import { at } from "../../../../contract/checked.ts";

const size = 624;
const middle = 397;

/** A generator of numbers from 0 to below 1, in steps of 2^-53: the sequence of numpy.random.seed(seed); numpy.random.uniform(). */
export function mersenneTwister(seed: number): () => number {
  const state = new Uint32Array(size);
  state[0] = seed >>> 0;
  for (let index = 1; index < size; index += 1) {
    const before = at(state, index - 1);
    state[index] = Math.imul(1_812_433_253, before ^ (before >>> 30)) + index;
  }
  let next = size;
  const word = (): number => {
    if (next === size) {
      twist(state);
      next = 0;
    }
    let tempered = at(state, next);
    next += 1;
    tempered ^= tempered >>> 11;
    tempered ^= (tempered << 7) & 0x9d2c5680;
    tempered ^= (tempered << 15) & 0xefc60000;
    return (tempered ^ (tempered >>> 18)) >>> 0;
  };
  return () => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53;
}

function twist(state: Uint32Array): void {
  for (let index = 0; index < size; index += 1) {
    const joined = (at(state, index) & 0x80000000) | (at(state, (index + 1) % size) & 0x7fffffff);
    state[index] = at(state, (index + middle) % size) ^ (joined >>> 1) ^ (joined & 1 ? 0x9908b0df : 0);
  }
}
