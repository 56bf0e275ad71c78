/** Counts the tokens of texts, special tokens not counted, with a cache for short pieces. */
import type { Tokenizer } from "../../tokenizers/index.ts";

/** Maximum number of cached pieces. */
const maxCachedPieces = 50_000;

/** Counts tokens with the tokenizer of a model. */
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

  /** Same as `count`, with a cache: for short pieces such as words, which recur. */
  countPiece(piece: string): number {
    const known = this.#known.get(piece);
    if (known !== undefined) return known;
    if (this.#known.size >= maxCachedPieces) this.#known.clear();
    const tokens = this.count(piece);
    this.#known.set(piece, tokens);
    return tokens;
  }
}
