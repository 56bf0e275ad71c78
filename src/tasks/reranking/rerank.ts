/** Task `text-ranking` (Hugging Face): chooses between cross-encoder, late interaction and bi-encoder by the kind of the model. */
import type { Encoder } from "../batching/run-encodings.ts";
import { isMultiVectorModel, rerankByLateInteraction } from "./late-interaction.ts";
import { type Ranking, rerankByCrossEncoder } from "./cross-encoder.ts";
import type { RerankOptions } from "./generated-rerank-options.ts";
import { isEmbedder, rerankByEmbedding } from "./bi-encoder.ts";

/**
 * Orders documents by relevance with the method that fits the model: MaxSim for models that give token vectors (ColBERT, BGE-M3), the cosine of embeddings for embedding
 * models, a cross-encoder otherwise. Throws INPUT_INVALID for options that the method does not have.
 */
export async function rerank(
  encoder: Encoder,
  query: string,
  documents: readonly string[],
  options: RerankOptions,
): Promise<Ranking> {
  if (isMultiVectorModel(encoder)) return rerankByLateInteraction(encoder, query, documents, options);
  if (isEmbedder(encoder.manifest)) return rerankByEmbedding(encoder, query, documents, options);
  return rerankByCrossEncoder(encoder, query, documents, options);
}
