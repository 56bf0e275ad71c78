import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planBatches } from "./plan-batches.ts";

const lengths = fc.array(fc.nat({ max: 600 }), { maxLength: 200 });
const budget = fc.integer({ min: 1, max: 1024 });

describe("planning batches", () => {
  it("gives every text exactly one place", () => {
    fc.assert(
      fc.property(lengths, budget, (sizes, most) => {
        const planned = planBatches(sizes, most).flatMap(({ indices }) => indices);
        expect(planned.toSorted((a, b) => a - b)).toEqual(sizes.map((_size, index) => index));
      }),
    );
  });

  it("keeps padded tokens within the budget, except for a single text that is longer", () => {
    fc.assert(
      fc.property(lengths, budget, (sizes, most) => {
        for (const { indices, length } of planBatches(sizes, most)) {
          expect(indices.length).toBeGreaterThan(0);
          expect(indices.length === 1 || indices.length * length <= most).toBe(true);
        }
      }),
    );
  });

  it("pads a batch to its longest text, and to one token where all are empty", () => {
    fc.assert(
      fc.property(lengths, budget, (sizes, most) => {
        for (const { indices, length } of planBatches(sizes, most)) {
          expect(length).toBe(Math.max(1, ...indices.map((index) => sizes[index]!)));
        }
      }),
    );
  });

  it("runs longer texts before shorter ones, and texts of one length in their own order", () => {
    fc.assert(
      fc.property(lengths, budget, (sizes, most) => {
        const planned = planBatches(sizes, most).flatMap(({ indices }) => indices);
        const sorted = sizes.map((_size, index) => index).toSorted((a, b) => sizes[b]! - sizes[a]! || a - b);
        expect(planned).toEqual(sorted);
      }),
    );
  });

  it("fills a batch as far as the budget goes", () => {
    expect(planBatches([4, 4, 4, 4, 4], 12)).toEqual([
      { indices: [0, 1, 2], length: 4 },
      { indices: [3, 4], length: 4 },
    ]);
    expect(planBatches([2, 100, 3], 8)).toEqual([
      { indices: [1], length: 100 },
      { indices: [2, 0], length: 3 },
    ]);
    expect(planBatches([], 8)).toEqual([]);
  });
});
