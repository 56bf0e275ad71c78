/**
 * From the start and end logits of an extractive question-answering model to answers, as transformers' pipeline computes them. Pure functions.
 *
 * The score of a span is the probability of its first token as start times the probability of its last token as end. Each is a softmax over the tokens of the
 * context and the class token; other tokens are masked.
 */
import { at } from "../../contract/checked.ts";
import { TopK, type Scored } from "../encoding/top-k.ts";

/** Logits of one window of question and context; all arrays have one entry per token. */
export interface WindowLogits {
  readonly start: Float32Array;
  readonly end: Float32Array;
  /** Whether the token belongs to the context. */
  readonly isContext: readonly boolean[];
  /** Index of the class token, at which a model trained on SQuAD 2.0 predicts "no answer". Undefined: the window has none. */
  readonly classToken: number | undefined;
}

/** The tokens from `first` to `last`, both included. */
export interface TokenSpan {
  readonly first: number;
  readonly last: number;
}

/** The best spans of one window. */
export interface WindowSpans {
  /** By descending score; of equal scores the earlier start, then the shorter span first. */
  readonly spans: readonly Scored<TokenSpan>[];
  /** Probability that the window contains no answer; 0 without a class token. */
  readonly nullScore: number;
}

/** The `limit` spans with the highest scores, of spans of at most `maxTokens` tokens. */
export function bestSpans({ start, end, isContext, classToken }: WindowLogits, limit: number, maxTokens: number): WindowSpans {
  const isCandidate = (token: number): boolean => isContext[token] === true || token === classToken;
  const starts = probabilities(start, isCandidate);
  const ends = probabilities(end, isCandidate);
  const best = new TopK<TokenSpan>(limit);
  for (let first = 0; first < starts.length; first += 1) {
    const startProbability = at(starts, first);
    if (isContext[first] !== true || !best.accepts(startProbability)) continue;
    const beyond = Math.min(ends.length, first + maxTokens);
    for (let last = first; last < beyond; last += 1) {
      const score = startProbability * at(ends, last);
      if (isContext[last] === true && best.accepts(score)) best.add(score, { first, last });
    }
  }
  const nullScore = classToken === undefined ? 0 : at(starts, classToken) * at(ends, classToken);
  return { spans: best.ranked, nullScore };
}

/** Softmax over the candidate tokens, 0 for all others. */
function probabilities(logits: Float32Array, isCandidate: (token: number) => boolean): Float64Array {
  let highest = Number.NEGATIVE_INFINITY;
  for (const [token, logit] of logits.entries()) if (isCandidate(token) && logit > highest) highest = logit;
  const powers = Float64Array.from(logits, (logit, token) => (isCandidate(token) ? Math.exp(logit - highest) : 0));
  const sum = powers.reduce((total, power) => total + power, 0);
  return sum === 0 ? powers : powers.map((power) => power / sum);
}

/** A candidate answer. */
export interface AnswerSpan {
  /** Range in the context, in UTF-16 code units: start included, end excluded. */
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

/**
 * Merges the candidates of all windows of one context, by descending score. Within a window the scores of candidates with the same text
 * (ignoring case) are added, as in transformers. Across windows the highest score is kept, because each window normalizes its probabilities
 * separately.
 */
export function mergeAnswers(windows: readonly (readonly AnswerSpan[])[], context: string): AnswerSpan[] {
  const merged = new Map<string, AnswerSpan>();
  for (const spans of windows) {
    for (const [words, span] of withinWindow(spans, context)) {
      const known = merged.get(words);
      if (known === undefined || span.score > known.score) merged.set(words, span);
    }
  }
  return [...merged.values()].sort((a, b) => b.score - a.score || a.start - b.start);
}

/** Candidates by lower-cased text; the range belongs to the candidate with the highest score. */
function withinWindow(spans: readonly AnswerSpan[], context: string): Map<string, AnswerSpan> {
  const merged = new Map<string, AnswerSpan>();
  for (const span of spans) {
    const words = context.slice(span.start, span.end).toLowerCase();
    const best = merged.get(words);
    merged.set(words, best === undefined ? span : { ...best, score: best.score + span.score });
  }
  return merged;
}
