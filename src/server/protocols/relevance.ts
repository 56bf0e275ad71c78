/** Scores and token counts of a ranking, for protocols that do not know how a model scores. */
import type { RerankResult } from "../../api/task-requests.ts";

/**
 * The score as a relevance. Cross-encoders without an activation function return logits; these get a sigmoid, since Cohere, Jina and TEI return
 * scores between 0 and 1. The order does not change. Other scores are returned as they are.
 */
export function relevanceScore(scoring: RerankResult["scoring"], score: number): number {
  return scoring === "none" ? 1 / (1 + Math.exp(-score)) : score;
}

/** Number of tokens the model read. */
export function totalTokens({ tokens, queryTokens = 0 }: Pick<RerankResult, "tokens" | "queryTokens">): number {
  return tokens.reduce((sum, count) => sum + count, queryTokens);
}
