/** Deterministic inputs of known answers, and digests of their results. */

/** `length` bytes of a generator (Marsaglia 2003, xorshift), the same for the same seed. */
export function patternBytes(length: number, seed: number): Uint8Array {
  let state = seed + 0x9e3779b9;
  return Uint8Array.from({ length }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 11;
  });
}

/** A digest: FNV-1a of the bytes (Fowler, Noll, Vo 1991), 32 bits. -0 in a Float32Array counts as 0. */
export function computePatternDigest(values: Float32Array | Int8Array | Uint8Array): number {
  const plain = values instanceof Float32Array ? values.map((value) => (value === 0 ? 0 : value)) : values;
  let hash = 0x811c9dc5;
  for (const byte of new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** A copy that begins at an odd address, after other bytes: a reader that ignores where its bytes begin is seen. */
export function displaced(bytes: Uint8Array): Uint8Array {
  const all = new Uint8Array(bytes.length + 2 * displacement).fill(0xa5);
  all.set(bytes, displacement);
  return all.subarray(displacement, displacement + bytes.length);
}

const displacement = 13;
