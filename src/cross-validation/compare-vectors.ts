/** How far one vector is from another. All sums are in double precision. */

/** The difference of a vector from a reference. */
export interface VectorDifference {
  /** Maximum absolute difference of a component. */
  readonly maxError: number;
  /** Root of the mean squared difference. */
  readonly rmsError: number;
  /** Length of the difference, divided by the length of the longer vector; 0 if both are zero. */
  readonly relativeError: number;
  /** Cosine of the angle between the two vectors; 1 if both are zero, 0 if one is. */
  readonly cosine: number;
}

/** Compares two vectors of finite numbers of the same length. */
export function compareVectors(reference: Float32Array, tested: Float32Array): VectorDifference {
  let maxError = 0;
  let squaredError = 0;
  let dot = 0;
  let referenceSquares = 0;
  let testedSquares = 0;
  for (let index = 0; index < reference.length; index += 1) {
    const a = reference[index] ?? 0;
    const b = tested[index] ?? 0;
    const error = Math.abs(a - b);
    if (error > maxError) maxError = error;
    squaredError += error * error;
    dot += a * b;
    referenceSquares += a * a;
    testedSquares += b * b;
  }
  const longer = Math.max(referenceSquares, testedSquares);
  const norms = Math.sqrt(referenceSquares * testedSquares);
  return {
    maxError,
    rmsError: Math.sqrt(squaredError / Math.max(1, reference.length)),
    relativeError: longer === 0 ? 0 : Math.sqrt(squaredError / longer),
    cosine: norms === 0 ? Number(referenceSquares === testedSquares) : Math.min(1, dot / norms),
  };
}
