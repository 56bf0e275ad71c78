/** Written by `npm run schemas`; the table of options is the source. */

/** Options of `Runtime.similarity`: of embedding, and of the comparison. */
export interface SimilarityOptions {
  /** Similarity measure; distances are negated, so that higher is more similar. Default: as the model's files state, otherwise "cosine". */
  readonly metric?: "cosine" | "dot" | "euclidean" | "manhattan";
  /** Name of the prompt for the second list of texts. Default: the one for the first list. */
  readonly otherPrompt?: string;
  /** How the token vectors of a text become one vector; "none" returns all of them. Default: as the model's files state. */
  readonly pooling?: "mean" | "cls" | "max" | "last" | "none";
  /** Scale vectors to unit length (L2 norm 1). Default: as the model's files state. */
  readonly normalize?: boolean;
  /** Name of one of the model's prompts ("query", "document", ...), prepended to every text. Default: the model's default prompt, if any. */
  readonly prompt?: string;
  /** Keep only the first n dimensions, then normalize again if vectors are normalized (Matryoshka embeddings). Default: all. */
  readonly dimensions?: number;
  /** Maximum length of a text in tokens, special tokens included. A value above the model's own limit has no effect. Default: that limit. */
  readonly maxTokens?: number;
  /** What happens to longer texts. "cut" truncates them; "error" throws INPUT_TOO_LONG; "windows" embeds overlapping windows and returns their mean, each window weighted by the number of tokens that no earlier window contains. Default: "cut". */
  readonly truncate?: "cut" | "error" | "windows";
  /** With `truncate: "windows"`: overlap of consecutive windows, in tokens of the text. Default: 0. */
  readonly stride?: number;
  /** Maximum size of one batch in tokens, padding included. Default: 512. */
  readonly batchTokens?: number;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
}
