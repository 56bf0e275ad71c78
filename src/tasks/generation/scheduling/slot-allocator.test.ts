import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SequenceGroup } from "./sequence-group.ts";
import { SlotAllocator } from "./slot-allocator.ts";
import { TokenCounters } from "./token-counters.ts";

const texts = fc.array(
  fc.record({
    client: fc.constantFrom("a", "b", "c", "d", "e", "f"),
    priority: fc.constantFrom("normal" as const, "high" as const),
    count: fc.integer({ min: 1, max: 4 }),
    promptTokens: fc.integer({ min: 1, max: 30 }),
    tokens: fc.integer({ min: 1, max: 40 }),
    arrival: fc.integer({ min: 0, max: 60 }),
  }),
  { maxLength: 40 },
);

describe("the slots of a model", () => {
  it("are never more than there are, something runs while a text waits, and every text ends", () => {
    const limits = fc.record({
      maxSequences: fc.integer({ min: 4, max: 6 }),
      turnTokens: fc.integer({ min: 1, max: 8 }),
      reservedSequences: fc.integer({ min: 0, max: 2 }),
    });
    fc.assert(
      fc.property(limits, texts, (given, all) => {
        const slots = new SlotAllocator(given);
        const open = new Map<SequenceGroup, number>();
        const total = all.reduce((sum, { tokens }) => sum + tokens, 0);
        let ended = 0;
        for (let step = 0; ended < all.length; step += 1) {
          expect(step).toBeLessThan(total + 61); // at least one text has a token in each step
          for (const { client, priority, count, promptTokens, tokens, arrival } of all) {
            if (arrival !== step) continue;
            const group = slots.add({ client, priority }, { count, promptTokens }, () => {});
            slots.want(group);
            open.set(group, tokens);
          }
          slots.allocate();
          const running = [...open.keys()].filter(({ state }) => state === "running");
          expect(running.reduce((sum, { count }) => sum + count, 0)).toBe(slots.running);
          expect(slots.running).toBeLessThanOrEqual(given.maxSequences);
          expect(running.length > 0 || open.size === 0).toBe(true);
          for (const group of running) {
            slots.charge(group, group.count, false);
            open.set(group, open.get(group)! - 1);
            if (open.get(group)! > 0) continue;
            open.delete(group);
            slots.remove(group);
            ended += 1;
          }
        }
        expect([slots.running, slots.waiting, slots.parked]).toEqual([0, 0, 0]);
      }),
      { numRuns: 60 },
    );
  });

  it("give a client that was idle no credit, and forget those that left", () => {
    const counters = new TokenCounters();
    counters.lift("a", []);
    counters.charge("a", 100, 1);
    counters.lift("b", ["a"]);
    expect(counters.of("b")).toBe(100);
    counters.charge("b", 40, 4);
    counters.prune(["a"]);
    expect([counters.of("b"), counters.size]).toEqual([110, 2]); // it was served more than a, and stays so
    counters.charge("a", 20, 1);
    counters.prune(["a"]);
    expect(counters.size).toBe(1);
  });
});
