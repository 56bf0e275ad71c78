/** Random numbers that are the same for the same seed, so that a distillation can be repeated. */

/** Whole numbers below `bound`, from a 32-bit linear congruential generator (Numerical Recipes, "ranqd1") whose high bits are used. */
export function randomIntegers(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** The numbers 0 to count - 1 in random order (Fisher-Yates). */
export function shuffledIndices(count: number, random: (bound: number) => number): Uint32Array {
  const indices = Uint32Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last--) {
    const other = random(last + 1);
    const kept = indices[last] ?? 0;
    indices[last] = indices[other] ?? 0;
    indices[other] = kept;
  }
  return indices;
}
