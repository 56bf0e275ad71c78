/** Cuts where the subject changes: between sentences whose vectors point apart. */
import { boundaries } from "../../tokenizers/unicode/segmentation.ts";
import { structureWithForcedBreaks } from "./forced-structure.ts";
import type { EmbedTexts } from "./chunk-model.ts";
import type { Separator } from "./separators.ts";
import type { TextStructure } from "./structure.ts";

/** Where neighbouring sentences part. */
export interface SemanticBreakRule {
  /** They part below this cosine similarity. */
  readonly threshold: number | undefined;
  /** Without a threshold: they part where they are further from each other than this share of all neighbours, in percent. */
  readonly percentile: number;
}

/** Sentences embedded in one call: enough for full batches, few enough that vectors need not all be kept. */
const perCall = 1024;

export async function semanticStructure(
  text: string,
  separators: readonly Separator[],
  rule: SemanticBreakRule,
  embedTexts: EmbedTexts,
): Promise<TextStructure> {
  const starts = sentenceStarts(text);
  const distances = await neighbourDistances(text, starts, embedTexts);
  const least = rule.threshold === undefined ? percentileOf(distances, rule.percentile) : 1 - rule.threshold;
  const parted = starts.slice(1).filter((_start, index) => (distances[index] ?? 0) > least);
  return structureWithForcedBreaks(text, separators, parted);
}

/** A sentence of nothing but spaces belongs to the one before. */
function sentenceStarts(text: string): number[] {
  const all = [0, ...boundaries(text, "sentence")];
  return all.filter((start, index) => index === 0 || /\S/.test(text.slice(start, all[index + 1])));
}

/** 1 - cosine similarity of each sentence and the next; 0 where one of them has no direction. */
async function neighbourDistances(text: string, starts: readonly number[], embedTexts: EmbedTexts): Promise<Float64Array> {
  const distances = new Float64Array(Math.max(0, starts.length - 1));
  let previous: Float32Array | undefined;
  for (let first = 0; first < starts.length; first += perCall) {
    const part = starts.slice(first, first + perCall);
    const sentences = part.map((start, index) => text.slice(start, starts[first + index + 1]).trim());
    for (const [index, vector] of (await embedTexts(sentences)).entries()) {
      if (previous !== undefined) distances[first + index - 1] = distance(previous, vector);
      previous = vector;
    }
  }
  return distances;
}

function distance(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    dot += value * other;
    squaresA += value * value;
    squaresB += other * other;
  }
  return squaresA === 0 || squaresB === 0 ? 0 : 1 - dot / Math.sqrt(squaresA * squaresB);
}

/** Linear between the two nearest values, as numpy computes it. */
function percentileOf(values: Float64Array, percentile: number): number {
  const sorted = values.toSorted();
  const place = ((sorted.length - 1) * percentile) / 100;
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}
