/** Cosine similarity. */

/** Cosine of the angle between two vectors of equal length, in double precision; undefined if one of them is zero. */
export function cosineSimilarity(a: Float32Array, b: Float32Array): number | undefined {
  let dot = 0;
  let squaresOfA = 0;
  let squaresOfB = 0;
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0; // `?? 0` without a call: this loop runs once per component
    dot += value * other;
    squaresOfA += value * value;
    squaresOfB += other * other;
  }
  return squaresOfA === 0 || squaresOfB === 0 ? undefined : dot / Math.sqrt(squaresOfA * squaresOfB);
}
