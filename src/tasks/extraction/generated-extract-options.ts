/** Written by `npm run schemas`; the table of options is the source. */
import type { ExtractSchema } from "./extract-schema.ts";

/** Options of `Runtime.extract`. */
export interface ExtractOptions {
  /** The fields to extract, by name. */
  readonly schema: ExtractSchema;
  /** Minimum score of a value, 0 to 1; below it a field counts as not found. Default: 0; with a GLiNER model 0.5. */
  readonly minScore?: number;
  /** How tokens are grouped into entities. Default: "first", which gives whole words. Refused for GLiNER models, which score spans. */
  readonly aggregation?: "simple" | "first" | "average" | "max";
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
