/** Written by `npm run schemas`; the table of options is the source. */
import type { EmbeddingRanges } from "./quantization-ranges.ts";

/** All options of `Runtime.embed`. */
export interface AllEmbedOptions {
  readonly outputs?: unknown;
  /** How the token vectors of a text become one vector; "none" returns all of them. Default: as the model's files state. */
  readonly pooling?: "mean" | "cls" | "max" | "last" | "none";
  /** Scale vectors to unit length (L2 norm 1). Default: as the model's files state. */
  readonly normalize?: boolean;
  /** Name of one of the model's prompts ("query", "document", ...), prepended to every text. Default: the model's default prompt, if any. */
  readonly prompt?: string;
  /** Keep only the first n dimensions, then normalize again if vectors are normalized (Matryoshka embeddings). Default: all. */
  readonly dimensions?: number;
  /** "int8" and "uint8": 8 bits per dimension, with scales to restore floats. "binary" and "ubinary": the sign only, 8 dimensions per byte. */
  readonly precision?: "float32" | "int8" | "uint8" | "binary" | "ubinary";
  /** With "int8" and "uint8": minimum and maximum of every dimension, so that codes of different texts compare. Default: one scale per text. */
  readonly ranges?: EmbeddingRanges;
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
