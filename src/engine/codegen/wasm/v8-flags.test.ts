/**
 * V8 flags that the engine sets while it works.
 *
 * @isolated since it sets a flag of V8
 */
import { setFlagsFromString } from "node:v8";
import { describe, expect, it } from "vitest";
import { withoutOptimizer } from "./v8-flags.ts";

setFlagsFromString("--allow-natives-syntax");
// oxlint-disable-next-line typescript/no-implied-eval -- V8 alone knows, and says it in a syntax of its own
const optimizationStatus = new Function("code", "return %GetOptimizationStatus(code)") as (code: unknown) => number;
/** Bits of the status, from V8's runtime.h: optimized by Maglev or TurboFan. */
const isOptimized = (code: unknown): boolean => (optimizationStatus(code) & 0b110_0000) > 0;

function newHotFunction(): (count: number) => number {
  // oxlint-disable-next-line typescript/no-implied-eval -- each is a function of its own, with feedback of its own
  return new Function("count", "let sum = 0; for (let i = 0; i < count; i += 1) sum += i % 7; return sum;") as (
    count: number,
  ) => number;
}

describe("without the optimizer", () => {
  it("hot functions stay unoptimized, and are optimized afterwards", () => {
    const hot = newHotFunction();
    withoutOptimizer(() => {
      for (let call = 0; call < 2000; call += 1) hot(1000);
    });
    expect(isOptimized(hot)).toBe(false);
    const end = performance.now() + 60_000;
    while (!isOptimized(hot) && performance.now() < end) hot(1000);
    expect(isOptimized(hot)).toBe(true);
  });

  it("passes on what the work throws, and restores the flag", () => {
    expect(() =>
      withoutOptimizer(() => {
        throw new Error("no");
      }),
    ).toThrow("no");
    const hot = newHotFunction();
    const end = performance.now() + 60_000;
    while (!isOptimized(hot) && performance.now() < end) hot(1000);
    expect(isOptimized(hot)).toBe(true);
  });
});
