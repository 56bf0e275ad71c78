/** Task `text-ranking` (Hugging Face): chooses between cross-encoder, late interaction and bi-encoder by the kind of the model. */
import type { Encoder } from "../batching/run-encodings.ts";
import { isLateInteraction } from "../shared/encoder-outputs.ts";
import { rerankByLateInteraction } from "../embedding/late-interaction.ts";
import { type Ranking, type RerankOptions, rerank } from "./cross-encoder.ts";
import { isEmbedder, rerankByEmbedding } from "./bi-encoder.ts";

export { rerankOptionNames } from "./cross-encoder.ts";

export async function rerankWithModel(
  encoder: Encoder,
  query: string,
  documents: readonly string[],
  options: RerankOptions,
): Promise<Ranking> {
  if (isLateInteraction(encoder.outputs)) return rerankByLateInteraction(encoder, query, documents, options);
  if (isEmbedder(encoder.manifest)) return rerankByEmbedding(encoder, query, documents, options);
  return rerank(encoder, query, documents, options);
}
