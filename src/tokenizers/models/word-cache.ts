/** Cache of the tokens of pieces, bounded by two generations: when the younger one is full, the older one is dropped. */
import type { PieceTokens } from "./model.ts";

/** Pieces per generation: at about 200 bytes each, 8 MB in total. */
const generationSize = 20_000;
/** Maximum length of a cached piece in UTF-16 code units; longer pieces rarely recur. */
const longest = 64;

/** Caches the tokens of words, with a bounded number of entries, since words repeat in texts. */
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
