/** What stands behind every kind of model: pieces of text to tokens. */

/** The tokens of one piece, flattened: id, first unit, end unit (of the piece), id, ... Always on the borders of characters. */
export type PieceTokens = readonly number[];

export interface Model {
  /** Throws an Error for a piece it has no token for, where the model knows no unknown token. */
  tokenize(piece: string): PieceTokens;
  /** Token to id, added tokens left out. */
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly unknownId: number | undefined;
  /** Whether an unknown token is shown as the text it stands for. */
  readonly keepsUnknownText: boolean;
}
