/** text-ranking by whatever the model is: a cross-encoder, a late-interaction model or an embedding model. */
import type { Encoder } from "./encoder-runs.ts";
import { isLateInteraction } from "./encoder-outputs.ts";
import { rerankByLateInteraction } from "./late-interaction.ts";
import { type Ranking, type RerankOptions, rerank } from "./rerank.ts";
import { isEmbedder, rerankByEmbedding } from "./rerank-by-embedding.ts";

export { rerankOptionNames } from "./rerank.ts";

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
