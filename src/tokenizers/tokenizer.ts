/** Text to token ids: the interface the tasks see. One implementation stands behind it, `library-tokenizer.ts`. */

/** One text as token ids. */
export interface Encoding {
  /** Special tokens of the frame included, cut to the limit; no padding. */
  readonly ids: number[];
  /** Whether content was cut to keep the limit. */
  readonly truncated: boolean;
  /** Length of the whole text in tokens, frame included, before anything was cut. */
  readonly tokens: number;
  /**
   * How many of the leading ids belong to the prompt: the frame's prefix and the prompt's own tokens, counted as
   * sentence-transformers counts them (the prompt encoded alone, its closing special token left off). 0 without a prompt.
   */
  readonly promptTokens: number;
}

export interface EncodeOptions {
  /** Longest result in tokens, frame included; Infinity = no limit. Default: the model's own limit. */
  readonly maxTokens?: number;
  /** Put before the text. Default: none. */
  readonly prompt?: string;
}

/** The special tokens around a single text, as the tokenizer's post-processor puts them; empty where the model takes none. */
export interface Frame {
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
}

export interface Tokenizer {
  /**
   * Content that does not fit is cut on the side tokenizer_config.json names (`truncation_side`, default right); the frame stays.
   * Throws INPUT_INVALID when the limit leaves no room for the frame, TOKENIZER_INVALID when the tokenizer's own file fails.
   */
  encode(text: string, options?: EncodeOptions): Encoding;
  /** Tokens the whole text takes, frame included. */
  count(text: string): number;
  /** Undefined for an id without a token. */
  tokenOf(id: number): string | undefined;
  /** One more than the highest id, added tokens included. */
  readonly vocabularySize: number;
  /** Fills shorter rows of a batch; such positions are masked. 0 where the model's files name no padding token. */
  readonly padId: number;
  /** The token for what the vocabulary does not hold; undefined where there is none. */
  readonly unknownId: number | undefined;
  readonly frame: Frame;
}
