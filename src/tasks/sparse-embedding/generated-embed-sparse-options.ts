/** Written by `npm run schemas`; the table of options is the source. */

/** Options of `Runtime.embedSparse`. */
export interface EmbedSparseOptions {
  /** Maximum number of weights per text; the largest are kept. Default: all. */
  readonly topK?: number;
  /** Only weights above this value are kept. Default: 0. */
  readonly threshold?: number;
  /** Name of one of the model's prompts ("query", "document", ...), prepended to every text. With a model that has weights of tokens for queries (a Router of sentence-transformers), "query" and "document" also choose between these and the network. Default: the model's default prompt, if any. */
  readonly prompt?: string;
  /** Maximum length of a text in tokens, special tokens included. A value above the model's own limit has no effect. Default: that limit. */
  readonly maxTokens?: number;
  /** What happens to longer texts: "cut" truncates them, "error" throws INPUT_TOO_LONG. Default: "cut". */
  readonly truncate?: "cut" | "error";
  /** Maximum size of one batch in tokens, padding included. Default: 512. */
  readonly batchTokens?: number;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
}
