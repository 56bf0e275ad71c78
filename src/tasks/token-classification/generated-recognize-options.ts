/** Written by `npm run schemas`; the table of options is the source. */

/** Options of `Runtime.recognize`. */
export interface RecognizeOptions {
  /** How tokens are grouped into entities (transformers' `aggregation_strategy`). Default: "simple". */
  readonly aggregation?: "none" | "simple" | "first" | "average" | "max";
  /** Entity types to look for, in your own words. Required for GLiNER models, refused for others, which know the types they were trained on. */
  readonly labels?: readonly string[];
  /** With `labels`: minimum score of an entity, from 0 to below 1. Default: 0.5. */
  readonly threshold?: number;
  /** With `labels`: whether entities may be nested. Default: false. */
  readonly nested?: boolean;
  /** With `labels`: whether one span may have several labels. Default: false. */
  readonly multiLabel?: boolean;
  /** Labels that mark no entity and are dropped. Default: ["O"]. */
  readonly ignoreLabels?: readonly string[];
  /** Unit of `start` and `end`: UTF-16 code units, as in JavaScript strings, code points, or UTF-8 bytes. Default: utf16. */
  readonly offsets?: "utf16" | "codepoints" | "bytes";
  /** Overlap in tokens of the windows that a text longer than the model's limit is read in. Default: a quarter of a window. */
  readonly stride?: number;
  /** Maximum length of a text in tokens, special tokens included. A value above the model's own limit has no effect. Default: that limit. */
  readonly maxTokens?: number;
  /** What happens to longer texts: "cut" truncates them, "error" throws INPUT_TOO_LONG. Default: "cut". */
  readonly truncate?: "cut" | "error";
  /** Maximum size of one batch in tokens, padding included. Default: 512. */
  readonly batchTokens?: number;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
}
