/**
 * From the logits of an extractive question-answering model to spans of tokens, as transformers' pipeline makes them. Pure.
 *
 * A span's score is the probability of its start times that of its end, each a softmax over the tokens of the context and the class
 * token; every other token takes no part.
 */
import { TopK, type Scored } from "../shared/top-k.ts";

/** One window of question and context. */
export interface WindowLogits {
  readonly start: Float32Array;
  readonly end: Float32Array;
  /** For each token, whether it is of the context. */
  readonly isContext: readonly boolean[];
  /** Where the class token is: a model that knows questions without an answer points there. Undefined: there is none. */
  readonly classPlace: number | undefined;
}

/** Tokens `first` to `last`, both included. */
export interface TokenSpan {
  readonly first: number;
  readonly last: number;
}

export interface WindowSpans {
  /** Best first; of equal scores the one that begins earlier, then the shorter one. */
  readonly spans: readonly Scored<TokenSpan>[];
  /** How probable it is that the window holds no answer. */
  readonly nullScore: number;
}

/** The `limit` best spans of at most `longest` tokens. */
export function bestSpans({ start, end, isContext, classPlace }: WindowLogits, limit: number, longest: number): WindowSpans {
  const takesPart = (place: number): boolean => isContext[place] === true || place === classPlace;
  const starts = probabilities(start, takesPart);
  const ends = probabilities(end, takesPart);
  const best = new TopK<TokenSpan>(limit);
  for (let first = 0; first < starts.length; first += 1) {
    if (isContext[first] !== true || !best.accepts(starts[first] ?? 0)) continue;
    const beyond = Math.min(ends.length, first + longest);
    for (let last = first; last < beyond; last += 1) {
      const score = (starts[first] ?? 0) * (ends[last] ?? 0);
      if (isContext[last] === true && best.accepts(score)) best.add(score, { first, last });
    }
  }
  const nullScore = classPlace === undefined ? 0 : (starts[classPlace] ?? 0) * (ends[classPlace] ?? 0);
  return { spans: best.ranked, nullScore };
}

/** Softmax over the places that take part, 0 elsewhere. */
function probabilities(logits: Float32Array, takesPart: (place: number) => boolean): Float64Array {
  let highest = Number.NEGATIVE_INFINITY;
  for (const [place, logit] of logits.entries()) if (takesPart(place) && logit > highest) highest = logit;
  const powers = Float64Array.from(logits, (logit, place) => (takesPart(place) ? Math.exp(logit - highest) : 0));
  const sum = powers.reduce((total, power) => total + power, 0);
  return sum === 0 ? powers : powers.map((power) => power / sum);
}

/** A piece of the context. */
export interface TextSpan {
  /** UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

/**
 * The answers of the windows of one context as one list. In a window the scores of spans with the same words, whatever their case, add up,
 * as in transformers; what several windows found keeps its highest score, since each window shares out probabilities of its own.
 */
export function mergeAnswers(windows: readonly (readonly TextSpan[])[], context: string): TextSpan[] {
  const merged = new Map<string, TextSpan>();
  for (const spans of windows) {
    for (const [words, span] of withinWindow(spans, context)) {
      const known = merged.get(words);
      if (known === undefined || span.score > known.score) merged.set(words, span);
    }
  }
  return [...merged.values()].sort((a, b) => b.score - a.score || a.start - b.start);
}

/** By words; the place is that of the best span. */
function withinWindow(spans: readonly TextSpan[], context: string): Map<string, TextSpan> {
  const merged = new Map<string, TextSpan>();
  for (const span of spans) {
    const words = context.slice(span.start, span.end).toLowerCase();
    const best = merged.get(words);
    merged.set(words, best === undefined ? span : { ...best, score: best.score + span.score });
  }
  return merged;
}
