/** Written by `npm run schemas`; the table of options is the source. */

/** Options of `Runtime.classify`. With `labels` the task is `zero-shot-classification`, otherwise `text-classification`. */
export interface ClassifyOptions {
  /** Number of labels returned per text, best first. Default: all. */
  readonly topK?: number;
  /** Candidate labels, for zero-shot classification with a natural-language-inference model. Default: the model's own labels. */
  readonly labels?: readonly string[];
  /** With `labels`: hypothesis to test, in which {} is replaced by the label. Default: "This example is {}.". */
  readonly hypothesisTemplate?: string;
  /** With `labels`: true scores each label independently, false normalizes the scores to sum 1. Default: false. */
  readonly multiLabel?: boolean;
  /** Function from logits to scores. Default: from config.json (`problem_type`, else the number of labels). */
  readonly activation?: "softmax" | "sigmoid" | "none";
  /** Maximum length of a text in tokens, special tokens included. A value above the model's own limit has no effect. Default: that limit. */
  readonly maxTokens?: number;
  /** What happens to longer texts: "cut" truncates them, "error" throws INPUT_TOO_LONG. Default: "cut". */
  readonly truncate?: "cut" | "error";
  /** Maximum size of one batch in tokens, padding included. Default: 512. */
  readonly batchTokens?: number;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
}
