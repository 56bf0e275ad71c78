/**
 * `WordPiece` of the Rust library (BERT): greedy longest match from the start of a word; continuation tokens have a prefix ("##"). A word that
 * cannot be covered is one unknown token.
 */
import { characterLength } from "../alignment/aligned-text.ts";
import type { Model, PieceTokens } from "./model.ts";
import { Trie } from "./trie.ts";
import { type ModelJson, stringOption, readVocabulary } from "./vocabulary.ts";
import { WordCache } from "./word-cache.ts";

/** WordPiece model (greedy longest match first, Devlin et al. 2019) with the settings of tokenizer.json. */
export class WordPieceModel implements Model {
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly unknownId: number;
  readonly keepsUnknownText: boolean = false;
  /** `max_input_chars_per_word`, in code points. Longer words are unknown. */
  readonly #longestWord: number;
  /** Tokens that start a word, and continuation tokens without their prefix. */
  readonly #beginning: Trie;
  readonly #continuing: Trie;
  readonly #cache: WordCache = new WordCache((word) => this.#split(word));

  constructor(model: ModelJson) {
    this.vocabulary = readVocabulary(model);
    const unknown = stringOption(model, "unk_token") ?? "[UNK]";
    const unknownId = this.vocabulary.get(unknown);
    if (unknownId === undefined) throw new Error(`its vocabulary has no unknown token ${JSON.stringify(unknown)}`);
    this.unknownId = unknownId;
    const prefix = stringOption(model, "continuing_subword_prefix") ?? "##";
    const limit = model["max_input_chars_per_word"] ?? 100;
    if (typeof limit !== "number") throw new Error("its model has a max_input_chars_per_word that is not a number");
    this.#longestWord = limit;
    this.#beginning = new Trie(this.vocabulary);
    this.#continuing = prefix === "" ? this.#beginning : new Trie(withoutPrefix(this.vocabulary, prefix));
  }

  tokenize(piece: string): PieceTokens {
    return this.#cache.tokenize(piece);
  }

  #split(word: string): PieceTokens {
    const unknown = [this.unknownId, 0, word.length];
    if (longerThan(word, this.#longestWord)) return unknown;
    const tokens: number[] = [];
    for (let start = 0; start < word.length;) {
      const trie = start === 0 ? this.#beginning : this.#continuing;
      let [id, end] = [-1, start];
      for (let [node, unit] = [0, start]; unit < word.length;) {
        node = trie.step(node, word.charCodeAt(unit++));
        if (node === -1) break;
        const found = trie.idAt(node);
        if (found !== -1) [id, end] = [found, unit];
      }
      if (id === -1) return unknown;
      tokens.push(id, start, end);
      start = end;
    }
    return tokens;
  }
}

function* withoutPrefix(vocabulary: ReadonlyMap<string, number>, prefix: string): Generator<[string, number], void> {
  for (const [token, id] of vocabulary)
    if (token.length > prefix.length && token.startsWith(prefix)) yield [token.slice(prefix.length), id];
}

/** Whether a text has more than `limit` code points. */
function longerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let count = 0;
  for (let unit = 0; unit < text.length && count <= limit; unit += characterLength(text, unit)) count++;
  return count > limit;
}
