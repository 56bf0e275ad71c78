/** Beam search over the outputs of a CTC model with scores of words (Hannun et al. 2014), with the rules and limits of pyctcdecode 0.5. */
import type { CtcWord } from "../decode-ctc.ts";
import type { NgramContext } from "./ngram-model.ts";
import type { WordScores } from "./word-scores.ts";

/** Symbols of the columns of the logits. */
export interface CtcAlphabet {
  /** One for each column. */
  readonly labels: readonly string[];
  readonly blank: number;
  /** The column that ends a word; -1 if there is none. */
  readonly space: number;
}

/** Limits of a search. */
export interface CtcBeamSettings {
  /** Number of texts that are extended at the same time. */
  readonly beams: number;
  /** A text whose score is lower than the best by more than this is dropped. */
  readonly maxScoreDifference: number;
  /** Log probability below which a symbol is not tried, unless it is the most probable of its frame. */
  readonly minLogProbability: number;
}

export const defaultCtcBeamSettings: CtcBeamSettings = { beams: 100, maxScoreDifference: 10, minLogProbability: -5 };

/** Smallest log probability of a symbol. */
const logProbabilityFloor = Math.log(1e-15);

/** Frames after which texts that no beam continues are forgotten: about 20 s. */
const framesBetweenCleanings = 1000;

/** A text: a word after another text. Equal texts are one object. */
interface TextNode {
  readonly id: number;
  readonly parent: TextNode | undefined;
  readonly word: string;
  readonly context: NgramContext;
  /** Score of all words of the text. */
  readonly score: number;
  children: Map<string, TextNode>;
}

/** Frames and tokens of the words of a beam, the last word first. */
interface FoundWord extends Omit<CtcWord, "word"> {
  readonly before: FoundWord | undefined;
}

/** A word that is not complete. */
interface PartialWord {
  readonly text: string;
  readonly tokens: readonly number[];
  /** First frame, -1 before the first character, and the frame after the last. */
  readonly start: number;
  readonly end: number;
  /** Sum of the log probabilities of the tokens but for the last, and that of the last in its most probable frame. */
  readonly sum: number;
  readonly last: number;
}

interface Beam {
  readonly text: TextNode;
  readonly words: FoundWord | undefined;
  readonly partial: PartialWord;
  /** Column of the last symbol; -1 before the first. */
  readonly symbol: number;
  /** Log probability of all paths of this beam. */
  logProbability: number;
}

interface ScoredBeam extends Beam {
  readonly total: number;
}

/** A text with its scores. */
export interface SearchedText {
  readonly words: readonly CtcWord[];
  /** Log probability of the paths of the text. */
  readonly logProbability: number;
  /** The same with the scores of its words. */
  readonly score: number;
}

const noPartial: PartialWord = { text: "", tokens: [], start: -1, end: -1, sum: 0, last: 0 };

/** One search. Frames are pushed in order, in pieces of any length. */
export class CtcBeamSearch {
  readonly #alphabet: CtcAlphabet;
  readonly #scores: WordScores;
  readonly #settings: CtcBeamSettings;
  #beams: readonly Beam[];
  #frame = 0;
  #nodes = 1;

  constructor(alphabet: CtcAlphabet, scores: WordScores, settings: CtcBeamSettings) {
    this.#alphabet = alphabet;
    this.#scores = scores;
    this.#settings = settings;
    const text: TextNode = { id: 0, parent: undefined, word: "", context: scores.start, score: 0, children: new Map() };
    this.#beams = [{ text, words: undefined, partial: noPartial, symbol: -1, logProbability: 0 }];
  }

  /** Takes the logits of one frame. */
  push(logits: Float32Array): void {
    const merged = new Map<string, Beam>();
    for (const { symbol, logProbability } of this.#findSymbols(logits))
      for (const beam of this.#beams) merge(merged, this.#extend(beam, symbol, logProbability));
    this.#frame += 1;
    this.#beams = this.#select([...merged.values()], ({ text, partial }) => text.score + this.#scores.scorePartial(partial.text));
    if (this.#frame % framesBetweenCleanings === 0) this.#forgetOtherTexts();
  }

  /** The texts at the end of the sound, the best first. */
  finish(): readonly SearchedText[] {
    const merged = new Map<string, Beam>();
    const endings = new Map<TextNode, number>();
    for (const beam of this.#beams) {
      const { text, words, partial } = beam;
      const ended = partial.text === "" ? words : endWord(partial, words);
      const whole = this.#append(text, partial.text);
      // A sound that ends after a space ends in an empty word.
      const { score } = this.#scores.score(text.context, partial.text, true);
      endings.set(whole, text.score + score);
      merge(merged, { ...beam, text: whole, words: ended, partial: noPartial, symbol: -1 });
    }
    const best = this.#select([...merged.values()], ({ text }) => endings.get(text) ?? text.score);
    return best.map(({ text, words, logProbability, total }) => ({
      words: listWords(text, words),
      logProbability,
      score: total,
    }));
  }

  /** The symbols of a frame that are tried: those that are probable enough, and the most probable. */
  #findSymbols(logits: Float32Array): readonly { readonly symbol: number; readonly logProbability: number }[] {
    let best = 0;
    for (let symbol = 1; symbol < logits.length; symbol += 1) if ((logits[symbol] ?? 0) > (logits[best] ?? 0)) best = symbol;
    const highest = logits[best] ?? 0;
    let sum = 0;
    for (const logit of logits) sum += Math.exp(logit - highest);
    const normalizer = highest + Math.log(sum);
    const found: { symbol: number; logProbability: number }[] = [];
    for (const [symbol, logit] of logits.entries()) {
      const logProbability = Math.max(logit - normalizer, logProbabilityFloor);
      if (symbol === best || logProbability >= this.#settings.minLogProbability) found.push({ symbol, logProbability });
    }
    return found;
  }

  #extend(beam: Beam, symbol: number, logProbability: number): Beam {
    const { blank, space, labels } = this.#alphabet;
    const { partial, words, text } = beam;
    const total = beam.logProbability + logProbability;
    if (symbol === blank) return { ...beam, symbol, logProbability: total };
    const end = this.#frame + 1;
    if (symbol === beam.symbol) {
      const repeated = partial.text === "" ? partial : { ...partial, end, last: Math.max(partial.last, logProbability) };
      return { ...beam, partial: repeated, logProbability: total };
    }
    if (symbol === space) {
      const ended = partial.text === "" ? words : endWord(partial, words);
      return { text: this.#append(text, partial.text), words: ended, partial: noPartial, symbol, logProbability: total };
    }
    const grown: PartialWord = {
      text: partial.text + (labels[symbol] ?? ""),
      tokens: [...partial.tokens, symbol],
      start: partial.start < 0 ? this.#frame : partial.start,
      end,
      sum: partial.sum + (partial.tokens.length === 0 ? 0 : partial.last),
      last: logProbability,
    };
    return { text, words, partial: grown, symbol, logProbability: total };
  }

  /** The text with another word. An empty word adds nothing. */
  #append(text: TextNode, word: string): TextNode {
    if (word === "") return text;
    const known = text.children.get(word);
    if (known !== undefined) return known;
    const { score, next } = this.#scores.score(text.context, word, false);
    const node = { id: this.#nodes, parent: text, word, context: next, score: text.score + score, children: new Map() };
    this.#nodes += 1;
    text.children.set(word, node);
    return node;
  }

  /** The best beams, the best first. */
  #select(beams: readonly Beam[], getWordScore: (beam: Beam) => number): readonly ScoredBeam[] {
    const { beams: count, maxScoreDifference } = this.#settings;
    const scored = beams.map((beam): ScoredBeam => ({ ...beam, total: beam.logProbability + getWordScore(beam) }));
    const highest = scored.reduce((max, { total }) => Math.max(max, total), Number.NEGATIVE_INFINITY);
    const near = scored.filter(({ total }) => total >= highest - maxScoreDifference);
    return near.toSorted((one, other) => other.total - one.total).slice(0, count);
  }

  /** Keeps the texts that lead to a beam, so that memory does not grow with the texts that were tried. */
  #forgetOtherTexts(): void {
    const seen = new Set<TextNode>();
    for (const beam of this.#beams) {
      for (let node: TextNode | undefined = beam.text, below: TextNode | undefined; node !== undefined; node = node.parent) {
        const isKnown = seen.has(node);
        if (!isKnown) node.children = new Map();
        seen.add(node);
        if (below !== undefined) node.children.set(below.word, below);
        if (isKnown) break;
        below = node;
      }
    }
  }
}

/** Adds a beam; one with the same text, partial word and last symbol is the same text on other paths, and its frames are those of the later one. */
function merge(beams: Map<string, Beam>, beam: Beam): void {
  const key = `${beam.text.id} ${beam.symbol} ${beam.partial.text}`;
  const same = beams.get(key);
  if (same === undefined) {
    beams.set(key, beam);
    return;
  }
  const [high, low] = [Math.max(same.logProbability, beam.logProbability), Math.min(same.logProbability, beam.logProbability)];
  beams.set(key, { ...beam, logProbability: high + Math.log1p(Math.exp(low - high)) });
}

function endWord({ tokens, start, end, sum, last }: PartialWord, before: FoundWord | undefined): FoundWord {
  return { start, end, tokens, logProbability: (sum + last) / tokens.length, before };
}

function listWords(text: TextNode, words: FoundWord | undefined): readonly CtcWord[] {
  const found: CtcWord[] = [];
  let own = words;
  for (let node: TextNode | undefined = text; node?.parent !== undefined && own !== undefined; node = node.parent) {
    const { before, ...times } = own;
    found.push({ word: node.word, ...times });
    own = before;
  }
  return found.toReversed();
}
