import { array, assert, double, property, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { compareLogits, requireFiniteLogits, topToken } from "./compare-logits.ts";

const floats = (...values: number[]): Float32Array => Float32Array.from(values);

describe("the comparison of logits", () => {
  it("has the numbers of a worked example", () => {
    // Softmax of [0, ln 3] is [1/4, 3/4], and of [0, 0] [1/2, 1/2]: the divergence is 1/4 ln(1/2) + 3/4 ln(3/2).
    const { maxError, rmsError, cosine, klDivergence, reference, tested } = compareLogits(floats(0, Math.log(3)), floats(0, 0));
    expect(maxError).toBeCloseTo(Math.log(3), 6);
    expect(rmsError).toBeCloseTo(Math.log(3) / Math.SQRT2, 6);
    expect(klDivergence).toBeCloseTo(0.25 * Math.log(0.5) + 0.75 * Math.log(1.5), 6);
    expect(cosine).toBe(0); // one of the two is zero
    expect(reference).toEqual({ token: 1, logit: Math.fround(Math.log(3)), margin: Math.fround(Math.log(3)) });
    expect(tested).toEqual({ token: 0, logit: 0, margin: 0 });
    expect(compareLogits(floats(1, 2), floats(2, 4)).cosine).toBeCloseTo(1, 12);
    expect(compareLogits(floats(1, 0), floats(0, 1)).cosine).toBe(0);
    expect(compareLogits(floats(0, 0), floats(0, 0))).toMatchObject({ cosine: 1, maxError: 0, klDivergence: 0 });
  });

  it("of equal vectors is no difference, and of any two an error of at least the RMS error", () => {
    const logit = double({ min: -80, max: 80, noNaN: true });
    const pair = array(tuple(logit, logit), { minLength: 1, maxLength: 50 });
    assert(
      property(pair, (pairs) => {
        const a = Float32Array.from(pairs, ([value]) => value);
        const b = Float32Array.from(pairs, ([, value]) => value);
        expect(compareLogits(a, a)).toMatchObject({ maxError: 0, rmsError: 0, klDivergence: 0 });
        const { maxError, rmsError, klDivergence, cosine } = compareLogits(a, b);
        expect(maxError).toBeGreaterThanOrEqual(rmsError * (1 - 1e-9));
        expect(klDivergence).toBeGreaterThanOrEqual(0);
        expect(Number.isFinite(klDivergence)).toBe(true);
        expect(Math.abs(cosine)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("large logits do not overflow", () => {
    expect(compareLogits(floats(30000, 0), floats(30000, 1)).klDivergence).toBeCloseTo(0, 12);
  });

  it("the highest of equal logits is the first", () => {
    expect(topToken(floats(1, 3, 3, 2))).toEqual({ token: 1, logit: 3, margin: 0 });
    expect(topToken(floats(-5))).toEqual({ token: 0, logit: -5, margin: 0 });
  });

  it("refuses what is not finite, with the position and the token", () => {
    expect(() => requireFiniteLogits(floats(1, Number.NaN), 7, "m on native:cpu")).toThrow(
      expect.objectContaining({
        code: "VERIFICATION_FAILED",
        message: "m on native:cpu: the logit of token 1 at position 7 is NaN, and all must be finite",
      }),
    );
    expect(() => requireFiniteLogits(floats(1, 2), 7, "m")).not.toThrow();
  });
});
