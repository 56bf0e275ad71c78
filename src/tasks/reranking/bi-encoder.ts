/** Task `text-ranking` with an embedding model (bi-encoder): the cosine of the query's embedding with each document's. Faster and less accurate than a cross-encoder. */
import { at } from "../../contract/checked.ts";
import { invalidInput } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { embed } from "../embedding/embed.ts";
import type { TaskTokenizer } from "../encoding/encode-texts.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import type { RerankOptions } from "./generated-rerank-options.ts";
import { rolePrompt } from "../embedding/prompts.ts";
import { normalizeRows } from "../encoding/pooling.ts";
import { type Ranking, validateRerank, rankDocuments } from "./cross-encoder.ts";

/** Whether a model's first task is `feature-extraction`. */
export function isEmbedder({ tasks }: Manifest): boolean {
  return tasks[0] === "feature-extraction";
}

/** Scores documents by cosine similarity, 1 to -1. The model's prompts "query" and "document" are applied if it has them. Throws INPUT_INVALID for `raw`. */
export async function rerankByEmbedding(
  encoder: Encoder<TaskTokenizer>,
  query: string,
  documents: readonly string[],
  options: RerankOptions,
): Promise<Ranking> {
  validateRerank(query, documents, options);
  if (options.raw === true) {
    throw invalidInput(
      `${encoder.manifest.name} is an embedding model: a cosine has no raw form`,
      "leave `raw` out, or use a cross-encoder",
    );
  }
  const { topN, raw: _raw, ...limits } = options;
  const queryResult = await embed(encoder, [query], { ...limits, ...rolePrompt(encoder.manifest, "query") });
  const documentResult = await embed(encoder, documents, { ...limits, ...rolePrompt(encoder.manifest, "document") });
  const direction = normalizeRows(at(queryResult.embeddings, 0));
  const scores = documentResult.embeddings.map((vector) => cosine(direction, vector));
  const { tokens, truncated } = documentResult;
  return {
    results: rankDocuments(scores, documents, topN),
    scoring: "cosine",
    tokens,
    queryTokens: at(queryResult.tokens, 0),
    truncated,
  };
}

function cosine(direction: Float32Array, vector: Float32Array): number {
  return normalizeRows(vector).reduce((sum, value, index) => sum + value * (direction[index] ?? 0), 0);
}
