import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SchedulingKey } from "../../runtime/scheduling/scheduling-key.ts";
import { PendingRows } from "./pending-rows.ts";

interface Row {
  readonly name: string;
  readonly length: number;
}

const turnOf = (client: string, priority: SchedulingKey["priority"] = "normal"): SchedulingKey => ({ client, priority });

function add(
  waiting: PendingRows<Row>,
  turn: SchedulingKey,
  lengths: readonly number[],
  name: string,
  kind = "",
  budget = 512,
): () => void {
  const rows = lengths.map((length, index) => ({ row: { name: `${name}${index}`, length }, length }));
  return waiting.add({ turn, kind, budget, rows });
}

/** The names of the rows of each batch, until nobody waits. */
function drain(waiting: PendingRows<Row>): string[][] {
  const batches: string[][] = [];
  for (let batch = waiting.take(); batch !== undefined; batch = waiting.take()) batches.push(batch.rows.map(({ name }) => name));
  return batches;
}

const calls = fc.array(
  fc.record({
    client: fc.constantFrom("a", "b", "c"),
    priority: fc.constantFrom("high" as const, "normal" as const),
    kind: fc.constantFrom("x", "y"),
    lengths: fc.array(fc.nat({ max: 600 }), { minLength: 1, maxLength: 30 }),
    /** Batches taken before it comes. */
    after: fc.nat({ max: 3 }),
    leaves: fc.boolean(),
  }),
  { maxLength: 12 },
);
const budgets = fc.integer({ min: 1, max: 600 });

describe("rows that wait", () => {
  it("of a client that fills whole batches, of high priority even, do not delay a row of another by more than one batch", () => {
    const waiting = new PendingRows<Row>();
    for (let call = 0; call < 64; call += 1) add(waiting, turnOf("many", "high"), [45], `m${call}-`);
    waiting.take();
    add(waiting, turnOf("one"), [8], "single");
    const batches = drain(waiting);
    expect(batches.findIndex((batch) => batch.includes("single0"))).toBeLessThanOrEqual(1);
  });

  it("are each taken once or removed, in batches of one kind, like length and at most the budget", () => {
    fc.assert(
      fc.property(calls, budgets, (given, budget) => {
        const waiting = new PendingRows<Row>();
        const seen = new Map<string, number>();
        const expected: string[] = [];
        const take = (): boolean => {
          const batch = waiting.take();
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
        for (const [number, { client, priority, kind, lengths, after, leaves }] of given.entries()) {
          for (let batch = 0; batch < after; batch += 1) take();
          const name = `${kind}${number}-`;
          const remove = add(waiting, turnOf(client, priority), lengths, name, kind, budget);
          const own = lengths.map((_length, index) => `${name}${index}`);
          if (leaves) take();
          const before = waiting.size;
          const left = own.filter((row) => !seen.has(row));
          if (leaves) remove();
          expect(waiting.size).toBe(leaves ? before - left.length : before);
          expected.push(...(leaves ? own.filter((row) => seen.has(row)) : own));
        }
        while (take());
        expect(waiting.size).toBe(0);
        expect([...seen.keys()].toSorted()).toEqual(expected.toSorted());
        expect([...seen.values()].every((count) => count === 1)).toBe(true);
      }),
    );
  });

  it("keep nobody waiting for more batches than there are clients before it, whatever the others bring", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 60 }), { maxLength: 8 }),
        (others) => {
          const waiting = new PendingRows<Row>();
          for (const [client, lengths] of others.entries()) add(waiting, turnOf(`client ${client}`), lengths, `other${client}-`);
          add(waiting, turnOf("small"), [40], "small");
          let batches = 0;
          for (let batch = waiting.take(); batch !== undefined; batch = waiting.take()) {
            batches += 1;
            add(waiting, turnOf("newcomer"), [100, 200, 300], `new${batches}-`); // who comes later goes behind
            if (batch.rows.some(({ name }) => name === "small0")) break;
          }
          expect(batches).toBeLessThanOrEqual(others.length + 1);
        },
      ),
    );
  });

  it("of a call of thousands do not hold up a call of one, of the same client or another", () => {
    const waiting = new PendingRows<Row>();
    add(
      waiting,
      turnOf("a"),
      Array.from({ length: 4096 }, () => 250),
      "bulk",
    );
    add(waiting, turnOf("a"), [20], "same");
    add(waiting, turnOf("b"), [60], "other");
    const [first, second, third] = [waiting.take(), waiting.take(), waiting.take()].map((batch) => batch?.rows[0]?.name);
    expect([first, second, third]).toEqual(["bulk0", "other0", "same0"]);
  });

  it("go first where their call is urgent", () => {
    const waiting = new PendingRows<Row>();
    add(waiting, turnOf("a"), [100, 300], "normal");
    add(waiting, turnOf("b", "high"), [500, 30], "high");
    expect(drain(waiting)).toEqual([["high0"], ["high1"], ["normal1"], ["normal0"]]);
  });

  it("of calls that are not urgent have a batch for each four of urgent ones, for as long as these come", () => {
    const waiting = new PendingRows<Row>();
    const others = Array.from({ length: 60 }, (_value, index) => 20 * (index + 1)); // no two of like length
    add(waiting, turnOf("a", "high"), others, "high", "x", 1);
    add(waiting, turnOf("b"), others, "normal", "y", 1);
    const batches = drain(waiting).slice(0, 50);
    expect(batches.filter(([name]) => name!.startsWith("normal")).length).toBe(10);
  });

  it("fill a batch with those nearest in length, the oldest of equals", () => {
    const waiting = new PendingRows<Row>();
    add(waiting, turnOf("a"), [100], "a");
    add(waiting, turnOf("b"), [101, 50, 99], "b");
    add(waiting, turnOf("c"), [101, 92, 80], "c");
    expect(drain(waiting)[0]).toEqual(["a0", "b2", "b0", "c0", "c1"]);
  });
});
