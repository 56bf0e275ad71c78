import { expect, it } from "vitest";
import { relevanceScore, totalTokens } from "./relevance.ts";

it("logits become scores between 0 and 1, and what is a score already stays", () => {
  expect([-2, 0, 2].map((logit) => relevanceScore("none", logit))).toEqual([0.11920292202211755, 0.5, 0.8807970779778823]);
  for (const scoring of ["sigmoid", "softmax", "cosine", "maxsim"] as const) expect(relevanceScore(scoring, 0.25)).toBe(0.25);
});

it("a query that is read by itself is counted once", () => {
  expect(totalTokens({ tokens: [3, 4] })).toBe(7);
  expect(totalTokens({ tokens: [3, 4], queryTokens: 5 })).toBe(12);
});
