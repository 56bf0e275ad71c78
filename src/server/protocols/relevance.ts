/** Numbers of a ranking in the terms of protocols that do not know how a model scores. */
import type { RerankResult } from "../../api/task-requests.ts";

/**
 * Cross-encoders whose files want their logits as they are (no activation) get a sigmoid, as Cohere, Jina and TEI give scores between 0 and 1.
 * The order stays. Cosines and MaxSim are given as they are.
 */
export function relevanceScore(scoring: RerankResult["scoring"], score: number): number {
  return scoring === "none" ? 1 / (1 + Math.exp(-score)) : score;
}

/** All tokens the model read. */
export function totalTokens({ tokens, queryTokens = 0 }: Pick<RerankResult, "tokens" | "queryTokens">): number {
  return tokens.reduce((sum, count) => sum + count, queryTokens);
}
