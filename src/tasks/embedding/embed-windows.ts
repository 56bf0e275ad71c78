/**
 * Embeddings of texts longer than the model's limit (`truncate: "windows"`): the mean of the window vectors, each weighted by the number of
 * tokens that no earlier window contains. Truncation of dimensions and normalization apply once, to the mean.
 */
import { at } from "../../contract/checked.ts";
import type { Embeddings } from "./embeddings.ts";
import type { EmbedSettings } from "./embed-options.ts";
import type { TaskTokenizer } from "../encoding/encode-texts.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import { truncateAndNormalize, poolEncodings } from "./pool-encodings.ts";
import { type TokenWindow, tokenWindows } from "../encoding/token-windows.ts";

/** Embeds texts in overlapping windows. `encodings` must hold the whole texts, not truncated. */
export async function embedWindows(
  encoder: Encoder<TaskTokenizer>,
  encodings: readonly TokenIds[],
  settings: EmbedSettings,
  signal?: AbortSignal,
): Promise<Embeddings> {
  const perText = encodings.map((encoding, text) => tokenWindows(encoding, text, encoder.tokenizer.frame, settings));
  const windows = perText.flat();
  const vectors: Float32Array[] = Array.from({ length: windows.length });
  const { dimensions } = await poolEncodings(encoder, windows, settings, signal, (vector, index) => (vectors[index] = vector));
  let next = 0;
  const embeddings = perText.map((textWindows, text) => {
    const mean = weightedMean(vectors.slice(next, next + textWindows.length), textWindows);
    next += textWindows.length;
    return truncateAndNormalize(mean, settings, text);
  });
  return {
    embeddings,
    dimensions: embeddings[0]?.length ?? dimensions,
    tokens: perText.map((textWindows) => textWindows.reduce((sum, { ids }) => sum + ids.length, 0)),
    truncated: [],
    windows: perText.map((textWindows) => textWindows.length),
  };
}

/** Mean of the vectors of one text's windows. A single window's vector is returned unchanged. */
function weightedMean(vectors: readonly Float32Array[], windows: readonly TokenWindow[]): Float32Array {
  const [first = new Float32Array()] = vectors;
  if (vectors.length <= 1) return first;
  const sum = new Float64Array(first.length);
  let total = 0;
  for (const [index, vector] of vectors.entries()) {
    const { to, firstNew } = at(windows, index);
    const weight = to - firstNew;
    total += weight;
    for (const [axis, value] of vector.entries()) sum[axis] = at(sum, axis) + weight * value;
  }
  return Float32Array.from(sum, (value) => value / total);
}
