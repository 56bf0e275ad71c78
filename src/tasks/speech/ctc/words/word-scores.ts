/** Scores of words that a search over the outputs of a CTC model adds to those of its characters, as pyctcdecode 0.5 has them. */
import type { NgramContext, NgramModel } from "./ngram-model.ts";

/** Weights of a vocabulary of words, as `language_model/attrs.json` states them. */
export interface WordWeights {
  /** Weight of the language model: `alpha`. */
  readonly alpha: number;
  /** Added for each word: `beta`. */
  readonly beta: number;
  /** Added to the base-10 logarithm of a word that is not in the vocabulary: `unk_score_offset`. */
  readonly unknownOffset: number;
  /** Whether the first and the last word are scored as those of a sentence: `score_boundary`. */
  readonly hasBoundaries: boolean;
}

export const defaultWordWeights: WordWeights = { alpha: 0.5, beta: 1.5, unknownOffset: -10, hasBoundaries: true };

/** Characters of a word from which an unknown one is penalized in proportion to its length. */
const averageLength = 6;

/** Scores of words and of their beginnings, in natural logarithms. */
export class WordScores {
  readonly #model: NgramModel | undefined;
  readonly #words: ReadonlySet<string>;
  /** All beginnings of the words. */
  readonly #prefixes: ReadonlySet<string>;
  readonly #weights: WordWeights;
  readonly #partial = new Map<string, number>();

  /** `words`: an empty list with a model takes the model's own words. Without a model all words are equally probable. */
  constructor(words: Iterable<string>, model: NgramModel | undefined, weights: WordWeights) {
    this.#model = model;
    this.#weights = weights;
    this.#words = new Set([...words].filter((word) => word !== "" && (model === undefined || model.has(word))));
    const prefixes = new Set<string>();
    for (const word of this.#words) for (let end = 1; end <= word.length; end += 1) prefixes.add(word.slice(0, end));
    this.#prefixes = prefixes;
  }

  get start(): NgramContext {
    return this.#weights.hasBoundaries ? (this.#model?.sentenceStart ?? []) : [];
  }

  /** The score of a word after others. `isLast`: the sentence ends with it. */
  score(context: NgramContext, word: string, isLast: boolean): { readonly score: number; readonly next: NgramContext } {
    const { alpha, beta, unknownOffset, hasBoundaries } = this.#weights;
    const model = this.#model;
    const { logProbability, next } = model?.score(context, word) ?? { logProbability: 0, next: context };
    const isUnknown =
      (this.#words.size > 0 && !this.#words.has(word)) || (model === undefined ? this.#words.size === 0 : !model.has(word));
    const end = isLast && hasBoundaries ? (model?.score(next, "</s>").logProbability ?? 0) : 0;
    const total = logProbability + (isUnknown ? unknownOffset : 0) + end;
    return { score: alpha * total * Math.LN10 + beta, next };
  }

  /** The score of the beginning of a word: a penalty unless a known word begins so. */
  scorePartial(partial: string): number {
    if (partial === "" || this.#prefixes.has(partial)) return 0;
    const known = this.#partial.get(partial);
    if (known !== undefined) return known;
    const { length } = Array.from(partial);
    const { unknownOffset } = this.#weights;
    const score = length > averageLength ? (unknownOffset * length) / averageLength : unknownOffset;
    if (this.#partial.size > 100_000) this.#partial.clear();
    this.#partial.set(partial, score);
    return score;
  }
}
