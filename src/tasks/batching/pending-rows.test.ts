import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";
import { PendingRows } from "./pending-rows.ts";

interface Row {
  readonly name: string;
  readonly length: number;
}

const keyOf = (client: string, priority: SchedulingKey["priority"] = "normal"): SchedulingKey => ({ client, priority });

function add(
  pending: PendingRows<Row>,
  schedulingKey: SchedulingKey,
  lengths: readonly number[],
  name: string,
  batchKey = "",
  budget = 512,
): () => void {
  const rows = lengths.map((length, index) => ({ row: { name: `${name}${index}`, length }, length }));
  return pending.add({ schedulingKey, batchKey, budget, rows });
}

/** The names of the rows of each batch, until no row is pending. */
function drain(pending: PendingRows<Row>): string[][] {
  const batches: string[][] = [];
  for (let batch = pending.take(); batch !== undefined; batch = pending.take()) batches.push(batch.rows.map(({ name }) => name));
  return batches;
}

const calls = fc.array(
  fc.record({
    client: fc.constantFrom("a", "b", "c"),
    priority: fc.constantFrom("high" as const, "normal" as const),
    batchKey: fc.constantFrom("x", "y"),
    lengths: fc.array(fc.nat({ max: 600 }), { minLength: 1, maxLength: 30 }),
    /** Batches taken before the call is added. */
    after: fc.nat({ max: 3 }),
    leaves: fc.boolean(),
  }),
  { maxLength: 12 },
);
const budgets = fc.integer({ min: 1, max: 600 });

describe("PendingRows", () => {
  it("a client with whole batches of high priority delays the row of another client by at most one batch", () => {
    const pending = new PendingRows<Row>();
    for (let call = 0; call < 64; call += 1) add(pending, keyOf("many", "high"), [45], `m${call}-`);
    pending.take();
    add(pending, keyOf("one"), [8], "single");
    const batches = drain(pending);
    expect(batches.findIndex((batch) => batch.includes("single0"))).toBeLessThanOrEqual(1);
  });

  it("every row is taken once or removed, in batches of one key, of similar length and within the budget", () => {
    fc.assert(
      fc.property(calls, budgets, (given, budget) => {
        const pending = new PendingRows<Row>();
        const seen = new Map<string, number>();
        const expected: string[] = [];
        const take = (): boolean => {
          const batch = pending.take();
          if (batch === undefined) return false;
          const lengths = batch.rows.map(({ length }) => Math.max(length, 1));
          const longest = Math.max(...lengths);
          expect(batch.length).toBe(longest);
          expect(lengths.length === 1 || lengths.length * longest <= budget).toBe(true);
          expect(longest - Math.min(...lengths)).toBeLessThanOrEqual(Math.max(longest / 8, 8));
          expect(new Set(batch.rows.map(({ name }) => name[0])).size).toBe(1);
          for (const { name } of batch.rows) seen.set(name, (seen.get(name) ?? 0) + 1);
          return true;
        };
        for (const [number, { client, priority, batchKey, lengths, after, leaves }] of given.entries()) {
          for (let batch = 0; batch < after; batch += 1) take();
          const name = `${batchKey}${number}-`;
          const remove = add(pending, keyOf(client, priority), lengths, name, batchKey, budget);
          const own = lengths.map((_length, index) => `${name}${index}`);
          if (leaves) take();
          const before = pending.size;
          const left = own.filter((row) => !seen.has(row));
          if (leaves) remove();
          expect(pending.size).toBe(leaves ? before - left.length : before);
          expected.push(...(leaves ? own.filter((row) => seen.has(row)) : own));
        }
        while (take());
        expect(pending.size).toBe(0);
        expect([...seen.keys()].toSorted()).toEqual(expected.toSorted());
        expect([...seen.values()].every((count) => count === 1)).toBe(true);
      }),
    );
  });

  it("a row waits for at most one batch per client before it, whatever the others add", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 60 }), { maxLength: 8 }),
        (others) => {
          const pending = new PendingRows<Row>();
          for (const [client, lengths] of others.entries()) add(pending, keyOf(`client ${client}`), lengths, `other${client}-`);
          add(pending, keyOf("small"), [40], "small");
          let batches = 0;
          for (let batch = pending.take(); batch !== undefined; batch = pending.take()) {
            batches += 1;
            add(pending, keyOf("newcomer"), [100, 200, 300], `new${batches}-`); // later clients go behind
            if (batch.rows.some(({ name }) => name === "small0")) break;
          }
          expect(batches).toBeLessThanOrEqual(others.length + 1);
        },
      ),
    );
  });

  it("a call with thousands of rows does not delay a call with one, of the same client or another", () => {
    const pending = new PendingRows<Row>();
    add(
      pending,
      keyOf("a"),
      Array.from({ length: 4096 }, () => 250),
      "bulk",
    );
    add(pending, keyOf("a"), [20], "same");
    add(pending, keyOf("b"), [60], "other");
    const [first, second, third] = [pending.take(), pending.take(), pending.take()].map((batch) => batch?.rows[0]?.name);
    expect([first, second, third]).toEqual(["bulk0", "other0", "same0"]);
  });

  it("rows of high priority go first", () => {
    const pending = new PendingRows<Row>();
    add(pending, keyOf("a"), [100, 300], "normal");
    add(pending, keyOf("b", "high"), [500, 30], "high");
    expect(drain(pending)).toEqual([["high0"], ["high1"], ["normal1"], ["normal0"]]);
  });

  it("normal priority gets one batch for four of high priority, while those are pending", () => {
    const pending = new PendingRows<Row>();
    const others = Array.from({ length: 60 }, (_value, index) => 20 * (index + 1)); // no two of similar length
    add(pending, keyOf("a", "high"), others, "high", "x", 1);
    add(pending, keyOf("b"), others, "normal", "y", 1);
    const batches = drain(pending).slice(0, 50);
    expect(batches.filter(([name]) => name!.startsWith("normal")).length).toBe(10);
  });

  it("a batch is filled with the rows nearest in length, of equal lengths the oldest first", () => {
    const pending = new PendingRows<Row>();
    add(pending, keyOf("a"), [100], "a");
    add(pending, keyOf("b"), [101, 50, 99], "b");
    add(pending, keyOf("c"), [101, 92, 80], "c");
    expect(drain(pending)[0]).toEqual(["a0", "b2", "b0", "c0", "c1"]);
  });
});
