/**
 * `WordPiece` of the Rust library (BERT): greedy longest match from the start of a word; continuation tokens have a prefix ("##"). A word that
 * cannot be covered is one unknown token.
 */
import { characterLength } from "../alignment/aligned-text.ts";
import type { Model, PieceTokens } from "./model.ts";
import { Trie } from "./trie.ts";
import { type ModelJson, stringOption, readVocabulary } from "./vocabulary.ts";
import { WordCache } from "./word-cache.ts";

/** Words that are split before the trie is built. */
const wordsBeforeTrie = 32;

/** WordPiece model (greedy longest match first, Devlin et al. 2019) with the settings of tokenizer.json. */
export class WordPieceModel implements Model {
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly unknownId: number;
  readonly keepsUnknownText: boolean = false;
  /** `max_input_chars_per_word`, in code points. Longer words are unknown. */
  readonly #longestWord: number;
  readonly #prefix: string;
  /** Built after `wordsBeforeTrie` words that are no tokens themselves: many programs tokenize a few short texts, and building takes longer than that. */
  #lookup: Lookup | undefined;
  #splitWords = 0;
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
    this.#prefix = prefix;
  }

  prepare(): void {
    this.#lookup ??= getLookup(this.vocabulary, this.#prefix);
  }

  tokenize(piece: string): PieceTokens {
    return this.#cache.tokenize(piece);
  }

  #split(word: string): PieceTokens {
    const unknown = [this.unknownId, 0, word.length];
    if (longerThan(word, this.#longestWord)) return unknown;
    const whole = word === "" ? undefined : this.vocabulary.get(word); // no token can be a longer match
    if (whole !== undefined) return [whole, 0, word.length];
    if (this.#lookup === undefined && this.#splitWords++ < wordsBeforeTrie) return this.#splitBySearch(word) ?? unknown;
    const { trie, continuation } = (this.#lookup ??= getLookup(this.vocabulary, this.#prefix));
    const tokens: number[] = [];
    for (let start = 0; start < word.length;) {
      let [id, end] = [-1, start];
      for (let [node, unit] = [start === 0 ? 0 : continuation, start]; node !== -1 && unit < word.length;) {
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

  /** The same without a trie: looks each prefix of the rest of the word up, the longest first. Undefined if the word cannot be covered. */
  #splitBySearch(word: string): PieceTokens | undefined {
    const tokens: number[] = [];
    for (let start = 0; start < word.length;) {
      const prefix = start === 0 ? "" : this.#prefix;
      let end = word.length;
      let id = this.vocabulary.get(prefix + word.slice(start, end));
      while (id === undefined && --end > start) id = this.vocabulary.get(prefix + word.slice(start, end));
      if (id === undefined) return undefined;
      tokens.push(id, start, end);
      start = end;
    }
    return tokens;
  }
}

interface Lookup {
  readonly trie: Trie;
  /** Node of the continuation prefix, under which the continuation tokens are; -1 if the vocabulary has none. */
  readonly continuation: number;
}

function getLookup(vocabulary: ReadonlyMap<string, number>, prefix: string): Lookup {
  const trie = new Trie(vocabulary);
  let continuation = 0;
  for (let unit = 0; unit < prefix.length && continuation !== -1; unit++)
    continuation = trie.step(continuation, prefix.charCodeAt(unit));
  return { trie, continuation };
}

/** Whether a text has more than `limit` code points. */
function longerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let count = 0;
  for (let unit = 0; unit < text.length && count <= limit; unit += characterLength(text, unit)) count++;
  return count > limit;
}
