/** Text to tokens: the interface the tasks see. */
/** What a model needs of one text. */
export interface TokenIds {
  /** Special tokens of the frame included, cut to the limit; no padding. */
  readonly ids: number[];
  /** Whether content was cut to keep the limit. */
  readonly truncated: boolean;
  /** Length of the whole text or pair in tokens, special tokens included, before anything was cut. */
  readonly wholeLength: number;
  /**
   * How many of the leading ids belong to the prompt: the frame's prefix and the prompt's own tokens, counted as
   * sentence-transformers counts them (the prompt encoded alone, its closing special token left off). 0 without a prompt.
   */
  readonly promptTokens: number;
}

/** One text, or a pair of texts, as tokens. The columns beside `ids` are made when they are first asked for. */
export interface Encoding extends TokenIds {
  /** Each token as the vocabulary writes it; an unknown one of a Unigram model as the text it stands for. */
  readonly tokens: readonly string[];
  /** 0 for the first text and 1 for the second, or whatever the model's own template says. */
  readonly typeIds: readonly number[];
  /** 1 for a token that was put around the texts, 0 for one of a text. */
  readonly specialTokensMask: readonly number[];
  /** 1 for every token: there is no padding. */
  readonly attentionMask: readonly number[];
  /** Which text a token is of: 0, 1, or null for one that was put around them. */
  readonly sequenceIds: readonly (0 | 1 | null)[];
  /** Which piece of its text a token is of, as the pre-tokenizer cut it; null for a token that was put around the texts. */
  readonly wordIds: readonly (number | null)[];
  /**
   * Two numbers for each token: what part [start, end) of its text it stands for, in UTF-16 units as JavaScript counts them. With a
   * prompt the first text is the prompt and the text. Tokens put around the texts have 0 and 0. Tokens may overlap (several bytes of one
   * character) and leave gaps (white space).
   */
  readonly offsets: Int32Array;
  /** What was cut, in windows of the same length that overlap by the stride. Empty where nothing was cut. */
  readonly overflowing: readonly Encoding[];
}

/** Which of two texts is cut: the longer one, then both; or one of them alone. */
export type TruncationStrategy = "longest_first" | "only_first" | "only_second";

export interface EncodeOptions {
  /** Longest result in tokens, special tokens included; Infinity = no limit. Default: the model's own limit. */
  readonly maxTokens?: number;
  /** Put before the text. Default: none. */
  readonly prompt?: string;
  /** A second text, for models that take two. Default: none. */
  readonly pair?: string;
  /** Whether special tokens are put around the texts. Default: what the model takes. */
  readonly addSpecialTokens?: boolean;
  /** Tokens by which windows of `overflowing` overlap; less than the room for content. Default: 0. */
  readonly stride?: number;
  /** Default: "longest_first". */
  readonly strategy?: TruncationStrategy;
  /** The side that is cut. Default: `truncation_side` of tokenizer_config.json, else right. */
  readonly truncationSide?: "left" | "right";
}

export interface PadOptions {
  /** Length of every row; longer rows stay as they are. Default: the longest row. */
  readonly length?: number;
  /** The length is rounded up to a multiple of this. Default: 1. */
  readonly multipleOf?: number;
  /** The side the padding is put on. Default: "right". */
  readonly side?: "left" | "right";
  /** Type id of padding. Default: 0. */
  readonly typeId?: number;
}

/** One row per encoding. */
export interface PaddedBatch {
  readonly ids: number[][];
  readonly typeIds: number[][];
  /** 1 for a token, 0 for padding. */
  readonly attentionMask: number[][];
}

export interface DecodeOptions {
  /** Default: true. */
  readonly skipSpecialTokens?: boolean;
}

/** The special tokens around a single text, as the tokenizer's post-processor puts them; empty where the model takes none. */
export interface Frame {
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
}

export interface Tokenizer {
  /**
   * Content that does not fit is cut; special tokens stay.
   * Throws INPUT_INVALID when the limit leaves no room for them, TOKENIZER_INVALID when the tokenizer's own file fails.
   */
  encode(text: string, options?: EncodeOptions): Encoding;
  /** Tokens the whole text takes, frame included. */
  count(text: string): number;
  /** Text of tokens. Ids without a token are left out. */
  decode(ids: Iterable<number>, options?: DecodeOptions): string;
  /** The same as `encode`; a long text is read by another thread. Left out where no threads read texts. */
  encodeOnThread?(text: string, options?: EncodeOptions): Promise<Encoding>;
  /** The same as `decode`; many ids are read by another thread. Left out where no threads read texts. */
  decodeOnThread?(ids: readonly number[], options?: DecodeOptions): Promise<string>;
  /** Brings encodings to one length. */
  pad(encodings: readonly Encoding[], options?: PadOptions): PaddedBatch;
  /** Undefined for an id without a token. */
  tokenOf(id: number): string | undefined;
  /** Undefined for a text that is no token. */
  idOf(token: string): number | undefined;
  /** One more than the highest id, added tokens included. */
  readonly vocabularySize: number;
  /** Fills shorter rows of a batch; such positions are masked. 0 where the model's files name no padding token. */
  readonly padId: number;
  /** The token for what the vocabulary does not hold; undefined where there is none. */
  readonly unknownId: number | undefined;
  /** The token that stands for a word to be found; undefined where there is none. */
  readonly maskId: number | undefined;
  /** The token a classifier reads, and where an answering model says that there is no answer; undefined where there is none. */
  readonly clsId: number | undefined;
  readonly frame: Frame;
}
