import fc from "fast-check";
import { expect, it } from "vitest";
import { TopK } from "./top-k.ts";

it("keeps what sorting all and cutting keeps, equal scores in the order they came", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 })), fc.integer({ min: 0, max: 12 }), (scores, limit) => {
      const best = new TopK<number>(limit);
      for (const [item, score] of scores.entries()) best.add(score, item);
      const all = scores.map((score, item) => ({ item, score }));
      expect(best.ranked).toEqual(all.sort((a, b) => b.score - a.score).slice(0, limit));
    }),
  );
});

it("says beforehand what it would not keep", () => {
  const best = new TopK<string>(1);
  expect(best.accepts(-5)).toBe(true);
  best.add(2, "a");
  expect([best.accepts(2), best.accepts(2.1)]).toEqual([false, true]);
});
