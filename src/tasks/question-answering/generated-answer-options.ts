/** Written by `npm run schemas`; the table of options is the source. */

/** Options of `Runtime.answer`. */
export interface AnswerOptions {
  /** Number of answers in each context, best first. Default: 1. */
  readonly topK?: number;
  /** Maximum length of an answer in tokens. Default: 15. */
  readonly maxAnswerTokens?: number;
  /** Include "no answer" (an empty text) as a candidate, for models trained on unanswerable questions (SQuAD 2.0). Default: false. */
  readonly noAnswer?: boolean;
  /** Extend answers to the boundaries of the tokenizer's words; false: to the boundaries of tokens. Default: true. */
  readonly alignToWords?: boolean;
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
