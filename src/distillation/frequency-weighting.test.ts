import { expect, it } from "vitest";
import { frequencyWeights } from "./frequency-weighting.ts";

it("gives model2vec's weights", () => {
  // model2vec 0.10.0: compute_weights(5, 1e-4).
  const reference = [
    0.00028991592438192926, 0.0004348108572770845, 0.0005796637949989007, 0.0007244747558020436, 0.0008692437579306005,
  ];
  const weights = [...frequencyWeights(5)];
  expect(weights).toHaveLength(5);
  for (const [rank, weight] of weights.entries()) expect(weight / (reference[rank] ?? 0)).toBeCloseTo(1, 12);
});
