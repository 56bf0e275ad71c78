/** Result type of the task `feature-extraction`. */

/** Dense vectors of texts, and the number of tokens read of each text. */
export interface Embeddings {
  /** One entry per text, in order: `dimensions` floats, or with pooling "none" `[tokens, dimensions]` floats, row-major. */
  readonly embeddings: Float32Array[];
  /** Present if `embeddings` holds token vectors: pooling "none" was requested, or is the default of a late-interaction model. */
  readonly pooling?: "none";
  /** Number of components of one vector. */
  readonly dimensions: number;
  /** Number of tokens the model read of each text, special tokens included; with windows the sum over all windows. */
  readonly tokens: number[];
  /** Indices of the texts that were truncated. */
  readonly truncated: number[];
  /** With `truncate: "windows"`: number of windows of each text. */
  readonly windows?: readonly number[];
}
