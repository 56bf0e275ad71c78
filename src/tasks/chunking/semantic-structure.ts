/** Semantic chunking: forced breaks between adjacent sentences whose embeddings are dissimilar, as in LangChain's `SemanticChunker`. */
import { cosineSimilarity } from "../embedding/cosine.ts";
import { boundaries } from "../../tokenizers/unicode/segmentation.ts";
import { structureWithForcedBreaks } from "./forced-structure.ts";
import type { EmbedTexts } from "./chunk-model.ts";
import type { Separator } from "../text-threads/chunked-text.ts";
import type { TextStructure } from "./structure.ts";

/** Decides between which adjacent sentences to break. */
export interface SemanticBreakRule {
  /** Break below this cosine similarity. Undefined: decide by `percentile`. */
  readonly threshold: number | undefined;
  /** Without a threshold: break if the cosine distance is above this percentile of all distances, 0 to 100. */
  readonly percentile: number;
}

/** Sentences embedded per call: enough to fill batches, few enough to bound memory. */
const perCall = 1024;

/** Embeds the sentences of a text and forces breaks where the rule requires them. Inside a subject, separators apply as for "fixed". */
export async function semanticStructure(
  text: string,
  separators: readonly Separator[],
  rule: SemanticBreakRule,
  embedTexts: EmbedTexts,
): Promise<TextStructure> {
  const starts = sentenceStarts(text);
  const distances = await neighbourDistances(text, starts, embedTexts);
  const maxDistance = rule.threshold === undefined ? computePercentile(distances, rule.percentile) : 1 - rule.threshold;
  const ends = starts.slice(1).filter((_start, index) => (distances[index] ?? 0) > maxDistance);
  return structureWithForcedBreaks(text, separators, ends);
}

/** Start positions of the sentences. White space without a sentence belongs to the sentence before. */
function sentenceStarts(text: string): number[] {
  const all = [0, ...boundaries(text, "sentence")];
  return all.filter((start, index) => index === 0 || /\S/.test(text.slice(start, all[index + 1])));
}

/** Cosine distance (1 - cosine similarity) of each sentence to the next; 0 if one of the vectors is zero. */
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
  const cosine = cosineSimilarity(a, b);
  return cosine === undefined ? 0 : 1 - cosine;
}

/** Percentile with linear interpolation, as numpy.percentile computes it. */
function computePercentile(values: Float64Array, percentile: number): number {
  const sorted = values.toSorted();
  const rank = ((sorted.length - 1) * percentile) / 100;
  const below = sorted[Math.floor(rank)] ?? 0;
  const above = sorted[Math.ceil(rank)] ?? below;
  return below + (above - below) * (rank - Math.floor(rank));
}
