/** From span scores to entities, as GLiNER's `SpanDecoder` selects them. Pure functions. */
import type { Word } from "./words.ts";

/** A span of a text with one label. */
export interface LabelledSpan {
  /** Index of the label in the list that was given. */
  readonly label: number;
  /** Sigmoid of the logit, 0 to 1. */
  readonly score: number;
  /** Range in the text, in UTF-16 code units: start included, end excluded. */
  readonly start: number;
  readonly end: number;
}

/** Logits of one window, row-major `[words, width, labels]` from element `offset` on: entry [w, n] is the span of n + 1 words from word w. */
export interface SpanLogits {
  readonly data: Float32Array;
  readonly offset: number;
  readonly width: number;
  readonly labels: number;
}

/** All spans whose score, the sigmoid of the logit, is above the threshold. */
export function scoredSpans(
  words: readonly Word[],
  { data, offset, width, labels }: SpanLogits,
  threshold: number,
): LabelledSpan[] {
  const found: LabelledSpan[] = [];
  for (const [first, { start }] of words.entries()) {
    const widest = Math.min(width, words.length - first);
    for (let length = 0; length < widest; length += 1) {
      const row = offset + (first * width + length) * labels;
      for (let label = 0; label < labels; label += 1) {
        const score = Math.fround(1 / (1 + Math.exp(-(data[row + label] ?? Number.NaN))));
        if (score > threshold) found.push({ label, score, start, end: words[first + length]?.end ?? start });
      }
    }
  }
  return found;
}

/** Which of the selected spans may overlap. */
export interface SpanOverlapRules {
  /** Whether spans may be nested. */
  readonly nested: boolean;
  /** Whether one span may have several labels. */
  readonly multiLabel: boolean;
}

/**
 * Greedy selection by descending score, as `greedy_search` of GLiNER: a span that conflicts with a selected one is dropped. Of equal scores the
 * earlier entry of `spans` wins. The result is sorted by position.
 */
export function selectSpans(spans: readonly LabelledSpan[], rules: SpanOverlapRules): LabelledSpan[] {
  const chosen: LabelledSpan[] = [];
  for (const span of spans.toSorted((a, b) => b.score - a.score))
    if (!chosen.some((other) => excludes(span, other, rules))) chosen.push(span);
  return chosen.sort((a, b) => a.start - b.start || a.end - b.end);
}

function excludes(a: LabelledSpan, b: LabelledSpan, { nested, multiLabel }: SpanOverlapRules): boolean {
  if (a.start === b.start && a.end === b.end) return a.label === b.label || !multiLabel;
  if (a.end <= b.start || b.end <= a.start) return false;
  const isInside = (a.start >= b.start && a.end <= b.end) || (b.start >= a.start && b.end <= a.end);
  return !(nested && isInside);
}
