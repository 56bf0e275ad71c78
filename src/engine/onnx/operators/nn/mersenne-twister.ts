/** Matsumoto and Nishimura's generator MT19937, https://doi.org/10.1145/272991.272995, seeded as its authors and numpy's `random.seed` do it. */

const size = 624;
const middle = 397;

/** Numbers from 0 to below 1, in steps of 2^-53. */
export function mersenneTwister(seed: number): () => number {
  const state = new Uint32Array(size);
  state[0] = seed >>> 0;
  for (let at = 1; at < size; at += 1) {
    const before = state[at - 1] ?? 0;
    state[at] = Math.imul(1_812_433_253, before ^ (before >>> 30)) + at;
  }
  let next = size;
  const word = (): number => {
    if (next === size) {
      twist(state);
      next = 0;
    }
    let mixed = state[next] ?? 0;
    next += 1;
    mixed ^= mixed >>> 11;
    mixed ^= (mixed << 7) & 0x9d2c5680;
    mixed ^= (mixed << 15) & 0xefc60000;
    return (mixed ^ (mixed >>> 18)) >>> 0;
  };
  return () => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53;
}

function twist(state: Uint32Array): void {
  for (let at = 0; at < size; at += 1) {
    const joined = ((state[at] ?? 0) & 0x80000000) | ((state[(at + 1) % size] ?? 0) & 0x7fffffff);
    state[at] = (state[(at + middle) % size] ?? 0) ^ (joined >>> 1) ^ (joined & 1 ? 0x9908b0df : 0);
  }
}
