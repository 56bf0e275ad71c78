import { expect, it } from "vitest";
import { cosineSimilarity } from "./cosine.ts";

it("the cosine of two vectors, worked out by hand; none where a vector is zero", () => {
  expect(cosineSimilarity(Float32Array.of(3, 4), Float32Array.of(4, 3))).toBeCloseTo(24 / 25, 12);
  expect(cosineSimilarity(Float32Array.of(1, 0), Float32Array.of(0, 1))).toBe(0);
  expect(cosineSimilarity(new Float32Array(2), new Float32Array(2))).toBeUndefined();
  expect(cosineSimilarity(Float32Array.of(1, 0), new Float32Array(2))).toBeUndefined();
});
