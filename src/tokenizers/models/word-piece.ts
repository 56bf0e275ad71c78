/** WordPiece: the longest token that begins a word, then the longest that goes on, and so to its end; else the word is unknown. */
import { characterLength } from "../aligned-text.ts";
import { characterStart } from "../rewriter.ts";
import type { Model, PieceTokens } from "./model.ts";
import { type ModelJson, modelText, vocabularyOf } from "./vocabulary.ts";
import { WordCache } from "./word-cache.ts";

export class WordPieceModel implements Model {
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly unknownId: number;
  readonly showsUnknownText: boolean = false;
  readonly #prefix: string;
  /** In characters. Longer words are unknown. */
  readonly #longestWord: number;
  /** Longest token in units, prefix left out: no longer part of a word needs to be looked up. */
  readonly #longestToken: number;
  readonly #cache: WordCache = new WordCache((word) => this.#split(word));

  constructor(model: ModelJson) {
    this.vocabulary = vocabularyOf(model);
    const unknown = modelText(model, "unk_token") ?? "[UNK]";
    const unknownId = this.vocabulary.get(unknown);
    if (unknownId === undefined) throw new Error(`its vocabulary has no unknown token ${JSON.stringify(unknown)}`);
    this.unknownId = unknownId;
    this.#prefix = modelText(model, "continuing_subword_prefix") ?? "##";
    const limit = model["max_input_chars_per_word"] ?? 100;
    if (typeof limit !== "number") throw new Error("its model has a max_input_chars_per_word that is not a number");
    this.#longestWord = limit;
    let longest = 0;
    for (const token of this.vocabulary.keys()) longest = Math.max(longest, token.length);
    this.#longestToken = longest;
  }

  tokenize(piece: string): PieceTokens {
    return this.#cache.tokenize(piece);
  }

  #split(word: string): PieceTokens {
    const unknown = [this.unknownId, 0, word.length];
    if (longerThan(word, this.#longestWord)) return unknown;
    const tokens: number[] = [];
    for (let start = 0; start < word.length;) {
      let end = Math.min(word.length, start + this.#longestToken);
      let id: number | undefined;
      for (; end > start; end = characterStart(word, end)) {
        const part = word.slice(start, end);
        id = this.vocabulary.get(start === 0 ? part : this.#prefix + part);
        if (id !== undefined) break;
      }
      if (id === undefined) return unknown;
      tokens.push(id, start, end);
      start = end;
    }
    return tokens;
  }
}

/** Whether a text has more than so many characters. */
function longerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let count = 0;
  for (let unit = 0; unit < text.length && count <= limit; unit += characterLength(text, unit)) count++;
  return count > limit;
}
