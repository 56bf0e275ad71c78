/** Tokens of pieces and of whole chunks, without special tokens. */
import type { Tokenizer } from "../../tokenizers/index.ts";

/** Pieces remembered: the words of a language come again and again. */
const maxCachedPieces = 50_000;

export class TokenCounter {
  readonly #tokenizer: Pick<Tokenizer, "count">;
  readonly #frame: number;
  readonly #known = new Map<string, number>();

  constructor(tokenizer: Pick<Tokenizer, "count" | "frame">) {
    this.#tokenizer = tokenizer;
    this.#frame = tokenizer.frame.prefix.length + tokenizer.frame.suffix.length;
  }

  count(text: string): number {
    return this.#tokenizer.count(text) - this.#frame;
  }

  /** The same for a short piece that is likely to come again. */
  countPiece(piece: string): number {
    const known = this.#known.get(piece);
    if (known !== undefined) return known;
    if (this.#known.size >= maxCachedPieces) this.#known.clear();
    const tokens = this.count(piece);
    this.#known.set(piece, tokens);
    return tokens;
  }
}
