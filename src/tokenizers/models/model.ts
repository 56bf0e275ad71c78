/** Interface of tokenizer models (trait `Model` of the Rust library). */

/** The tokens of one piece, flattened: id, start, end, id, ..., where start and end are UTF-16 offsets in the piece, on character boundaries. */
export type PieceTokens = readonly number[];

/** A tokenization model, which converts the pieces of a text to token ids: BPE, Unigram, WordLevel or WordPiece. */
export interface Model {
  /** Tokenizes a piece. Throws Error if it contains text outside the vocabulary and the model has no unknown token. */
  tokenize(piece: string): PieceTokens;
  /** Builds the tables now that the first pieces would otherwise build. Default: nothing is built later. */
  prepare?(): void;
  /** Ids by token, without added tokens. */
  readonly vocabulary: ReadonlyMap<string, number>;
  /** Id of the unknown token; undefined if there is none. */
  readonly unknownId: number | undefined;
  /** Whether `Encoding.tokens` shows an unknown token as the text it covers (Unigram). */
  readonly keepsUnknownText: boolean;
}
