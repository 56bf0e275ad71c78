/** Chunks of a text, and the settings that they are made with. */
import type { OffsetUnit } from "../../tokenizers/index.ts";

/** A chunk of a text. */
export interface Chunk {
  /** Index among the chunks of its text, from 0. */
  readonly id: number;
  /** The chunk as it is written in the text. */
  readonly text: string;
  /** Start in the text, included, in the unit of the option `offsets`. */
  readonly start: number;
  /** End in the text, excluded, in the same unit. */
  readonly end: number;
  /** Number of tokens of the chunk alone, special tokens not counted. */
  readonly tokens: number;
  /** With the strategy "late": the embedding of the chunk in its context. */
  readonly embedding?: Float32Array;
}

/** The chunks of one text. */
export interface ChunkedText {
  /** In order. Without overlap they concatenate to the text. Empty for an empty text. */
  readonly chunks: readonly Chunk[];
  /** Whether `maxChunks` was reached before the end of the text. */
  readonly truncated: boolean;
}

/** How chunk boundaries are chosen; see `ChunkOptions.strategy`. */
export type ChunkStrategy = "fixed" | "markdown" | "code" | "semantic" | "late" | "token-classification";

/** The strategy by which "late" chooses chunk boundaries. */
export type LateStructure = "fixed" | "markdown" | "code";

/** A place where plain text may be split: before a paragraph, a line, a sentence or a word. */
export type Separator = "paragraphs" | "lines" | "sentences" | "words";

/** `ChunkOptions` with every default filled in. `target` and `overlap` are `targetTokens` and `overlapTokens`. */
export interface ChunkSettings {
  readonly strategy: ChunkStrategy;
  readonly target: number;
  readonly overlap: number;
  readonly maxChunks: number;
  readonly separators: readonly Separator[];
  readonly offsets: OffsetUnit;
  readonly threshold: number | undefined;
  readonly percentile: number;
  readonly structure: LateStructure;
  readonly prompt: string | undefined;
  readonly stride: number | undefined;
  readonly signal: AbortSignal | undefined;
}
