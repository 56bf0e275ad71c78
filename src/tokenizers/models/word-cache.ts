/** Tokens of pieces seen before, bounded: two generations, of which the older one goes when the younger is full. */
import type { PieceTokens } from "./model.ts";

/** Pieces in one generation: at some 200 bytes each, 8 MB in all. */
const generationSize = 20_000;
/** Longer pieces, in units, are seldom met twice. */
const longest = 64;

export class WordCache {
  readonly #tokenize: (piece: string) => PieceTokens;
  #young = new Map<string, PieceTokens>();
  #old: ReadonlyMap<string, PieceTokens> = new Map();

  constructor(tokenize: (piece: string) => PieceTokens) {
    this.#tokenize = tokenize;
  }

  tokenize(piece: string): PieceTokens {
    if (piece.length > longest) return this.#tokenize(piece);
    const known = this.#young.get(piece);
    if (known !== undefined) return known;
    const tokens = this.#old.get(piece) ?? this.#tokenize(piece);
    if (this.#young.size >= generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(piece, tokens);
    return tokens;
  }
}
