// Random numbers that are the same in every run.

// Uniform in [0, 1): xorshift32 (Marsaglia 2003, "Xorshift RNGs", the triple 13, 17, 5).
export function createRandom(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

// Fisher and Yates; a new array.
export function shuffled(values, random) {
  const result = [...values];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other], result[last]];
  }
  return result;
}
