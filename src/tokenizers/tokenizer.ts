/** The interface of tokenizers, modelled on `Tokenizer` and `Encoding` of Hugging Face's tokenizers library. */

/** The token ids of one text or pair, without the other columns of an `Encoding`. */
export interface TokenIds {
  /** Token ids, special tokens included, truncated to the limit, without padding. */
  readonly ids: number[];
  /** Whether the text was truncated. */
  readonly truncated: boolean;
  /** Number of tokens of the text or pair before truncation, special tokens included. */
  readonly wholeLength: number;
  /**
   * Number of leading ids that belong to the prompt: the prefix and the prompt's own tokens, counted as sentence-transformers counts them (the
   * prompt tokenized alone, without the suffix). 0 without a prompt.
   */
  readonly promptTokens: number;
}

/**
 * The tokens of one text or pair (`Encoding` of the Rust library). Arrays have one entry per id. The columns other than `ids` are computed when
 * they are read, so read each once.
 */
export interface Encoding extends TokenIds {
  /** Each token as the vocabulary has it; an unknown token of a Unigram model as the text it covers. */
  readonly tokens: readonly string[];
  /** Token type (segment) ids: usually 0 for the first text and 1 for the second. */
  readonly typeIds: readonly number[];
  /** 1 for a special token that the post-processor added, 0 for a token of a text. */
  readonly specialTokensMask: readonly number[];
  /** 1 for every token, since there is no padding. */
  readonly attentionMask: readonly number[];
  /** 0 for a token of the first text, 1 for one of the second, null for an added special token. */
  readonly sequenceIds: readonly (0 | 1 | null)[];
  /** Index of the word (pre-tokenizer piece) of its text that a token belongs to; null for an added special token. */
  readonly wordIds: readonly (number | null)[];
  /**
   * Two entries per token, start and end: the range [start, end) of its text in UTF-16 code units; 0 and 0 for an added special token. With a
   * prompt the first text is prompt + text. Ranges may overlap (several byte tokens of one character) and have gaps (white space).
   */
  readonly offsets: Int32Array;
  /** The truncated parts, in windows of the same length that overlap by the stride. Empty if nothing was truncated. */
  readonly overflowing: readonly Encoding[];
}

/** Which text of a pair is truncated: token by token the longer one ("longest_first"), or only the first or the second. */
export type TruncationStrategy = "longest_first" | "only_first" | "only_second";

/** Options of `Tokenizer.encode`. */
export interface EncodeOptions {
  /** Maximum number of tokens, special tokens included; Infinity: no limit. Default: the model's own limit. */
  readonly maxTokens?: number;
  /** Text prepended to the first text. Default: none. */
  readonly prompt?: string;
  /** Second text of a pair. Default: none. */
  readonly pair?: string;
  /** Whether the post-processor adds special tokens. Default: as the model was trained. */
  readonly addSpecialTokens?: boolean;
  /** Overlap of the windows in `overflowing`, in tokens; less than the room for content. Default: 0. */
  readonly stride?: number;
  /** Which text of a pair is truncated. Default: "longest_first". */
  readonly strategy?: TruncationStrategy;
  /** The end at which tokens are removed. Default: `truncation_side` of tokenizer_config.json, otherwise "right". */
  readonly truncationSide?: "left" | "right";
}

/** Options of `Tokenizer.pad`. */
export interface PadOptions {
  /** Length of every row in tokens; longer rows are not changed. Default: the length of the longest row. */
  readonly length?: number;
  /** The length is rounded up to a multiple of this. Default: 1. */
  readonly multipleOf?: number;
  /** The end at which padding is added. Default: "right". */
  readonly side?: "left" | "right";
  /** Token type id of padding. Default: 0. */
  readonly typeId?: number;
}

/** Padded encodings, one row per encoding: each field is a row-major array of the shape [rows, length]. */
export interface PaddedBatch {
  readonly ids: number[][];
  readonly typeIds: number[][];
  /** 1 for a token, 0 for padding. */
  readonly attentionMask: number[][];
}

/** Options of `Tokenizer.decode`. */
export interface TokenDecodeOptions {
  /** Whether special tokens are left out of the text. Default: true. */
  readonly skipSpecialTokens?: boolean;
}

/** Ids of the special tokens that a tokenizer adds before and after a single text; empty for a tokenizer without. */
export interface Frame {
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
}

/** The tokenizer of a model. Stateless apart from caches: one instance serves concurrent calls. */
export interface Tokenizer {
  /**
   * Tokenizes a text or pair and truncates it to the limit; special tokens are never truncated. Throws INPUT_INVALID if the limit leaves no room
   * beside the special tokens, TOKENIZER_INVALID if a component of the tokenizer fails on the text.
   */
  encode(text: string, options?: EncodeOptions): Encoding;
  /** Number of tokens of a text, special tokens included, without truncation. */
  count(text: string): number;
  /** Converts token ids to text. Ids without a token are skipped. */
  decode(ids: Iterable<number>, options?: TokenDecodeOptions): string;
  /** Same as `encode`, with long texts on a worker thread. Absent if there are no threads. */
  encodeOnThread?(text: string, options?: EncodeOptions): Promise<Encoding>;
  /** Same as `decode`, with long lists on a worker thread. Absent if there are no threads. */
  decodeOnThread?(ids: readonly number[], options?: TokenDecodeOptions): Promise<string>;
  /** Pads encodings to one length. */
  pad(encodings: readonly Encoding[], options?: PadOptions): PaddedBatch;
  /** The token with an id; undefined if there is none. */
  idToToken(id: number): string | undefined;
  /** The id of a token, by its exact vocabulary entry; undefined if there is none. */
  tokenToId(token: string): number | undefined;
  /** Highest id plus 1, added tokens included. */
  readonly vocabularySize: number;
  /** Id of the padding token; 0 if the model's files name none. Padded positions are masked. */
  readonly padId: number;
  /** Id of the token for text outside the vocabulary; undefined if there is none. */
  readonly unknownId: number | undefined;
  /** Id of the mask token; undefined if there is none. */
  readonly maskId: number | undefined;
  /** Id of the class token, which classification heads read; undefined if there is none. */
  readonly clsId: number | undefined;
  /** The special tokens around a single text. */
  readonly frame: Frame;
}
