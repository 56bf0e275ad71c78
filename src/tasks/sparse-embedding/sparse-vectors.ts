/** Sparse vectors, and how they are selected from weights. */
import { at } from "../../contract/checked.ts";
import { invalidInput } from "../../contract/errors.ts";
import type { EmbedSparseOptions } from "./generated-embed-sparse-options.ts";

/** A sparse vector, by descending weight; equal weights by ascending token id. Both arrays have the same length. */
export interface SparseEmbedding {
  /** Vocabulary token ids; with a CSR model the indices of latents. */
  readonly indices: Uint32Array;
  /** The weight of each, above 0. */
  readonly values: Float32Array;
}

/** Sparse vectors of texts, and the number of tokens read of each text. */
export interface SparseEmbeddings {
  /** One per text, in order. */
  readonly embeddings: readonly SparseEmbedding[];
  /** Size of the vocabulary, or number of latents: the length of the dense equivalent of a vector. */
  readonly dimensions: number;
  /** Number of tokens the model read of each text, special tokens included. */
  readonly tokens: readonly number[];
  /** Indices of the texts that were truncated. */
  readonly truncated: readonly number[];
}

/** Which weights are kept. */
export type SparseSelection = Pick<EmbedSparseOptions, "topK" | "threshold">;

/** Throws INPUT_INVALID for a threshold below 0 or one that is not a number. */
export function checkThreshold({ threshold = 0 }: SparseSelection): void {
  if (Number.isFinite(threshold) && threshold >= 0) return;
  throw invalidInput(`threshold is ${threshold}, and must be a number of at least 0`, "correct threshold, or leave it out");
}

/** The sparse vector of weights, one per index. */
export function sparseVector(weights: Float32Array, { threshold = 0, topK }: SparseSelection): SparseEmbedding {
  const present = Array.from(weights.keys()).filter((id) => at(weights, id) > threshold);
  const kept = present.sort((a, b) => at(weights, b) - at(weights, a)).slice(0, topK);
  return { indices: Uint32Array.from(kept), values: Float32Array.from(kept, (id) => at(weights, id)) };
}

/** The sparse vector of weights by index. */
export function toSparseVector(weights: ReadonlyMap<number, number>, { threshold = 0, topK }: SparseSelection): SparseEmbedding {
  const present = [...weights]
    .filter(([, weight]) => weight > threshold)
    .sort(([a, first], [b, second]) => second - first || a - b);
  const kept = present.slice(0, topK);
  return { indices: Uint32Array.from(kept, ([id]) => id), values: Float32Array.from(kept, ([, weight]) => weight) };
}
