/** Written by `npm run schemas`; the table of options is the source. */
import type { Separator } from "../text-threads/chunked-text.ts";

/** Options of `Runtime.chunk`. */
export interface ChunkOptions {
  /** How chunk boundaries are chosen. "fixed": at separators. "markdown", "code": at the structure of the text. "semantic": where the embeddings of adjacent sentences differ most. "token-classification": where a model with that head marks an end. "late": as `structure` states, and every chunk gets an embedding computed from the whole text (late chunking, Günther et al. 2024). Default: "fixed". */
  readonly strategy?: "fixed" | "markdown" | "code" | "semantic" | "late" | "token-classification";
  /** Maximum number of tokens of a chunk, special tokens not counted. Default: 500. */
  readonly targetTokens?: number;
  /** Number of tokens at the end of a chunk that the next one repeats, at most, counted word by word; less than `targetTokens`. Default: 0. */
  readonly overlapTokens?: number;
  /** Maximum number of chunks; the rest of the text is dropped, and `truncated` is true. Default: no limit. */
  readonly maxChunks?: number;
  /** Separators to break at, the most preferred first. Not with "code". Default: paragraphs, lines, sentences, words. */
  readonly separators?: readonly Separator[];
  /** Unit of `start` and `end`: UTF-16 code units, as in JavaScript strings, code points, or UTF-8 bytes. Default: "utf16". */
  readonly offsets?: "utf16" | "codepoints" | "bytes";
  /** With "semantic": break between adjacent sentences whose cosine similarity is below this value, -1 to 1. Default: by `percentile`. */
  readonly threshold?: number;
  /** With "semantic": break where the cosine distance of adjacent sentences is above this percentile of all distances, 0 to 100. Default: 95. */
  readonly percentile?: number;
  /** With "late": the strategy that chooses the boundaries. Default: "fixed". */
  readonly structure?: "fixed" | "markdown" | "code";
  /** With "late": name of the model's prompt to prepend. Default: the model's default prompt, if any. */
  readonly prompt?: string;
  /** With "late" and "token-classification": overlap in tokens of the windows that a longer text is read in. Default: a quarter of a window. */
  readonly stride?: number;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
}
