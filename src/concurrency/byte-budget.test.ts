import { describe, expect, it } from "vitest";
import { ByteBudget } from "./byte-budget.ts";

/** Lets promises settle. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

describe("a budget of bytes", () => {
  it("is handed out in the order of the calls", async () => {
    const budget = new ByteBudget(10);
    const order: string[] = [];
    const reserve = (name: string, bytes: number) =>
      budget.reserve(bytes, undefined).then((release) => (order.push(name), release));
    const [first, large, small] = [reserve("first", 6), reserve("large", 8), reserve("small", 1)];
    await settle();
    expect([order, budget.reserved]).toEqual([["first"], 6]);
    const release = await first;
    release();
    release(); // counts once
    await settle();
    expect([order, budget.reserved]).toEqual([["first", "large", "small"], 9]);
    (await large)();
    (await small)();
    expect(budget.reserved).toBe(0);
  });

  it("is not waited for by aborted calls, whose place goes to the next", async () => {
    const budget = new ByteBudget(10);
    const release = await budget.reserve(6, undefined);
    const aborting = new AbortController();
    const aborted = budget.reserve(8, aborting.signal);
    const behind = budget.reserve(3, undefined);
    aborting.abort();
    await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
    const releaseBehind = await behind;
    expect(budget.reserved).toBe(9);
    release();
    releaseBehind();
    await expect(budget.reserve(1, AbortSignal.abort())).rejects.toMatchObject({ code: "ABORTED" });
    await expect(budget.reserve(11, undefined)).rejects.toThrow(RangeError);
    expect(budget.reserved).toBe(0);
  });
});
