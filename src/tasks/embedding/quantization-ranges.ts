/** Calibration ranges for 8-bit quantization of embeddings. */
import { invalidInput } from "../../contract/errors.ts";

/** Minimum and maximum of every dimension over a sample of vectors (the calibration set). Both lists have one entry per dimension. */
export type EmbeddingRanges = readonly [lowest: ArrayLike<number>, highest: ArrayLike<number>];

/**
 * Computes calibration ranges for the precisions "int8" and "uint8" from a sample of embeddings of equal length. Throws INPUT_INVALID if the
 * sample is empty.
 */
export function embeddingRanges(embeddings: readonly Float32Array[]): [lowest: Float32Array, highest: Float32Array] {
  const [first] = embeddings;
  if (first === undefined)
    throw invalidInput(
      "embeddingRanges needs at least one embedding, and was given none",
      "pass the embeddings of texts like those to come",
    );
  const [lowest, highest] = [first.slice(), first.slice()];
  for (const vector of embeddings) {
    for (const [dimension, value] of vector.entries()) {
      lowest[dimension] = Math.min(lowest[dimension] ?? value, value);
      highest[dimension] = Math.max(highest[dimension] ?? value, value);
    }
  }
  return [lowest, highest];
}
