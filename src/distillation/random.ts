/** Seeded random numbers, so that a distillation is reproducible. */

import { at } from "../contract/checked.ts";

/**
 * Creates a generator of integers from 0 to `bound` - 1: the high bits of a 32-bit linear congruential generator ("ranqd1" of
 * Numerical Recipes). Equal seeds give equal sequences. Not for cryptography.
 */
export function randomIntegers(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** The integers 0 to `count` - 1 in random order (Fisher-Yates shuffle). */
export function shuffledIndices(count: number, random: (bound: number) => number): Uint32Array {
  const indices = Uint32Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last--) {
    const other = random(last + 1);
    const kept = at(indices, last);
    indices[last] = at(indices, other);
    indices[other] = kept;
  }
  return indices;
}
