/** text-ranking by whatever the model is: a cross-encoder, a late-interaction model or an embedding model. */
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
