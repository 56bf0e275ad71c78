/** Task `feature-extraction` with a quantized precision: embeds texts, then quantizes the vectors. */
import { omitUndefined } from "../../contract/checked.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import type { QuantizedEmbedOptions } from "./embed-options.ts";
import { embed } from "./embed.ts";
import type { Embeddings } from "./embeddings.ts";
import type { QuantizedPrecision } from "./precisions.ts";
import { type QuantizedVectors, checkQuantize, quantizeVectors } from "./quantize.ts";

/** Quantized vectors of texts. `dimensions` is the number of dimensions before packing. */
export interface QuantizedEmbeddings extends Omit<Embeddings, "embeddings">, QuantizedVectors {
  readonly precision: QuantizedPrecision;
}

/** Throws INPUT_INVALID for an unknown precision, ranges that do not fit it, and pooling "none". */
export function checkPrecision(options: QuantizedEmbedOptions): void {
  checkQuantize(options, options.pooling);
}

/** Embeds texts and quantizes the vectors. Throws INPUT_INVALID if the model's own pooling is "none", and errors of `embed` and `quantize`. */
export async function embedQuantized(
  encoder: Encoder,
  texts: readonly string[],
  { precision, ranges, ...options }: QuantizedEmbedOptions,
): Promise<QuantizedEmbeddings> {
  const requested = { precision, ...omitUndefined({ ranges }) };
  const { embeddings, ...result } = await embed(encoder, texts, options);
  checkQuantize(requested, result.pooling);
  return { ...result, precision, ...quantizeVectors(embeddings, requested) };
}
