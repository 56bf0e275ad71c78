/** From scores of spans to entities, as GLiNER's decoder chooses them. Pure. */
import type { Word } from "./words.ts";

export interface LabelledSpan {
  /** Place of the label in the list that was given. */
  readonly label: number;
  readonly score: number;
  /** Position in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Logits of one window: [words, width, labels], from `offset` on; spans begin at a word and are 1 to `width` words long. */
export interface SpanLogits {
  readonly data: Float32Array;
  readonly offset: number;
  readonly width: number;
  readonly labels: number;
}

/** Every span whose score (a sigmoid) is above the threshold. */
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

export interface SpanOverlapRules {
  /** A span may lie inside another. */
  readonly nested: boolean;
  /** One span may have several labels. */
  readonly multiLabel: boolean;
}

/** The best spans that may stand beside each other, from left to right; of equal scores the one that comes first. */
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
