/** Written by `npm run schemas`; the table of options is the source. */

/** Options of `Runtime.rerank`. */
export interface RerankOptions {
  /** Number of documents returned, best first. Default: all. */
  readonly topN?: number;
  /** Return the model's logits as scores, without an activation. Only for cross-encoders. Default: false. */
  readonly raw?: boolean;
  /** Maximum length of a text in tokens, special tokens included. A value above the model's own limit has no effect. Default: that limit. */
  readonly maxTokens?: number;
  /** What happens to longer texts: "cut" truncates them, "error" throws INPUT_TOO_LONG. Default: "cut". */
  readonly truncate?: "cut" | "error";
  /** Maximum size of one batch in tokens, padding included. Default: 512. */
  readonly batchTokens?: number;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
}
