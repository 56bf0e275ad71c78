import { cachedDataVersionTag } from "node:v8";
import { expect, it } from "vitest";
import { withOptimizer, withoutOptimizer, withOptimizingCompiler } from "./v8-flags.ts";

it("V8's flags are the same after a compilation as before it, also where it fails: other modules of the process are compiled as ever", () => {
  const before = cachedDataVersionTag(); // a digest of V8's flags
  const inside = withOptimizingCompiler(cachedDataVersionTag);
  expect(inside).not.toBe(before);
  expect(() =>
    withOptimizingCompiler(() => {
      throw new Error("refused");
    }),
  ).toThrow("refused");
  const [outer, inner, nested] = withoutOptimizer(() => [
    cachedDataVersionTag(),
    withOptimizer(cachedDataVersionTag),
    withoutOptimizer(cachedDataVersionTag),
  ]);
  expect([outer, inner, nested]).toEqual([outer, before, outer]);
  expect(outer).not.toBe(before);
  expect(cachedDataVersionTag()).toBe(before);
});
