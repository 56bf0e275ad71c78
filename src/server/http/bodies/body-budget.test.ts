import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BodyBudget } from "./body-budget.ts";

const codeOf = (work: () => void): string => {
  try {
    work();
    return "taken";
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("BodyBudget", () => {
  it("gives one client half, and leaves others room however many are greedy", () => {
    const budget = new BodyBudget(1200);
    for (let client = 0; client < 5; client += 1) {
      const greedy = budget.reservation(`greedy ${client}`);
      while (codeOf(() => greedy.grow(1)) === "taken") {
        // until it is refused
      }
    }
    expect(budget.used).toBeLessThan(1200);
    expect(codeOf(() => budget.reservation("modest").grow(10))).toBe("taken");
  });

  it("takes what a client has of all its requests, says when to come again, and takes it back once", () => {
    const budget = new BodyBudget(100);
    const [first, second] = [budget.reservation("a"), budget.reservation("a")];
    first.grow(30);
    second.grow(20);
    expect(() => second.grow(1)).toThrow(expect.objectContaining({ code: "QUEUE_FULL", retryable: true, retryAfterMs: 1000 }));
    first.release();
    first.release();
    expect(budget.used).toBe(20);
    expect(codeOf(() => second.grow(30))).toBe("taken");
  });

  it("says of a body that can never be taken that it is too large", () => {
    expect(codeOf(() => new BodyBudget(100).reservation("a").grow(51))).toBe("LIMIT_EXCEEDED");
  });

  it("never holds more than its limit, and nothing when all have left", () => {
    const step = fc.record({ client: fc.nat(3), bytes: fc.nat(200), leaves: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const budget = new BodyBudget(500);
        const reservations = [0, 1, 2, 3].map((client) => budget.reservation(String(client)));
        for (const { client, bytes, leaves } of steps) {
          if (leaves) reservations[client]!.release();
          else codeOf(() => reservations[client]!.grow(bytes));
          expect(budget.used).toBeLessThanOrEqual(500);
        }
        for (const { release } of reservations) release();
        expect(budget.used).toBe(0);
      }),
    );
  });
});
