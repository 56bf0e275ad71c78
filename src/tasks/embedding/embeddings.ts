/** What comes of embedding. */

export interface Embeddings {
  /** One per text, in order. With pooling "none": the vectors of all its tokens, one after the other. */
  readonly embeddings: Float32Array[];
  /** "none" where `embeddings` are vectors of tokens, because that was asked for or the model is made for late interaction; else left out. */
  readonly pooling?: "none";
  /** Length of one vector. */
  readonly dimensions: number;
  /** Tokens the model saw for each text, special tokens included; with windows, in all of them together. */
  readonly tokens: number[];
  /** Indices of the texts that were cut. */
  readonly truncated: number[];
  /** With `truncate: "windows"`: how many each text was read in. */
  readonly windows?: readonly number[];
}
