/** Ranges of the dimensions of vectors, for quantizing others by them. */
import { InferyardError } from "../../errors.ts";

/** Each dimension's lowest and highest value, over vectors that are like those to come. */
export type EmbeddingRanges = readonly [lowest: ArrayLike<number>, highest: ArrayLike<number>];

/** The ranges of vectors of one length, for the precisions "int8" and "uint8". INPUT_INVALID where there are none. */
export function embeddingRanges(embeddings: readonly Float32Array[]): [lowest: Float32Array, highest: Float32Array] {
  const [first] = embeddings;
  if (first === undefined)
    throw new InferyardError("INPUT_INVALID", "ranges were asked for of no vectors", { remedy: "give some" });
  const [lowest, highest] = [first.slice(), first.slice()];
  for (const vector of embeddings) {
    for (const [dimension, value] of vector.entries()) {
      lowest[dimension] = Math.min(lowest[dimension] ?? value, value);
      highest[dimension] = Math.max(highest[dimension] ?? value, value);
    }
  }
  return [lowest, highest];
}
