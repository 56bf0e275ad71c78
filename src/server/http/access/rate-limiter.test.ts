import { describe, expect, it } from "vitest";
import type { InferyardError } from "../../../contract/errors.ts";
import { RateLimiter } from "./rate-limiter.ts";

describe("RateLimiter", () => {
  it("gives a minute's worth at once, and then one at a time as they come back", () => {
    let now = 0;
    const limiter = new RateLimiter(() => now);
    const taken = (client: string): boolean | number => {
      try {
        limiter.take(client, 60);
        return true;
      } catch (error) {
        return (error as InferyardError).retryAfterMs ?? 0;
      }
    };
    expect(Array.from({ length: 61 }, () => taken("a"))).toEqual([...Array.from({ length: 60 }, () => true), 1000]);
    now = 500;
    expect(taken("a")).toBe(500);
    now = 1000;
    expect([taken("a"), taken("a"), taken("b")]).toEqual([true, 1000, true]);
  });

  it("forgets nobody who is limited when very many come", () => {
    let now = 0;
    const limiter = new RateLimiter(() => now);
    limiter.take("a", 1);
    for (let other = 0; other < 20_000; other += 1) limiter.take(`other ${other}`, 1);
    expect(() => limiter.take("a", 1)).toThrow(/more than 1/);
    now = 60_000;
    expect(() => limiter.take("a", 1)).not.toThrow();
  });
});
