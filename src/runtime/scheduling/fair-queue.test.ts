import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairQueue, type Eligibility, priorityWeights } from "./fair-queue.ts";
import type { Priority } from "./scheduling-key.ts";

interface Item {
  readonly client: string;
  readonly priority: Priority;
}

const priorities = fc.constantFrom<Priority>("high", "normal");
const flows = fc.uniqueArray(fc.record({ client: fc.constantFrom("a", "b", "c", "d", "e", "f"), priority: priorities }), {
  selector: ({ client, priority }) => client + priority,
  minLength: 1,
  maxLength: 10,
});

describe("under saturation", () => {
  it("every client with waiting work gets at least its weighted share, whatever the others do", () => {
    fc.assert(
      fc.property(
        flows,
        fc.array(fc.record({ turns: fc.nat(30), newcomers: fc.nat(3) }), { maxLength: 10 }),
        (saturated, phases) => {
          const queue = new FairQueue<Item>();
          const served = new Map<Item, number>(saturated.map((flow) => [flow, 0]));
          for (const flow of saturated) queue.add(flow, flow);
          const weights = saturated.reduce((sum, { priority }) => sum + priorityWeights[priority], 0);
          let turns = 0;
          let newcomers = 0;
          for (const { turns: count, newcomers: coming } of [...phases, { turns: 40, newcomers: 0 }]) {
            for (let index = 0; index < coming; index += 1) {
              newcomers += 1; // each with one piece of urgent work, as a client with ever new names
              const flow: Item = { client: `new${newcomers}`, priority: "high" };
              queue.add(flow, flow);
            }
            for (let index = 0; index < count; index += 1) {
              const item = queue.take(() => "take");
              if (item === undefined) throw new Error("nobody waits");
              turns += 1;
              if (!served.has(item)) continue;
              served.set(item, (served.get(item) ?? 0) + 1);
              queue.add(item, item); // it always has more
            }
            for (const [{ priority }, count_] of served) {
              const share = ((turns - newcomers) * priorityWeights[priority]) / weights;
              expect(count_).toBeGreaterThanOrEqual(Math.floor(share) - saturated.length);
              // Golestani: two flows differ by at most one turn of each, in turns by weight.
              for (const [other, otherCount] of served) {
                const gap = Math.abs(count_ / priorityWeights[priority] - otherCount / priorityWeights[other.priority]);
                expect(gap).toBeLessThanOrEqual(1 / priorityWeights[priority] + 1 / priorityWeights[other.priority]);
              }
            }
          }
        },
      ),
    );
  });

  it("four of high priority go for one of normal priority, and clients of one priority take turns", () => {
    const queue = new FairQueue<string>();
    for (let index = 0; index < 10; index += 1) queue.add({ client: "u", priority: "high" }, `u${index}`);
    for (const client of ["a", "b"]) for (const index of [0, 1]) queue.add({ client, priority: "normal" }, `${client}${index}`);
    const order = Array.from({ length: 14 }, () => queue.take(() => "take"));
    expect(order.join(" ")).toBe("u0 u1 u2 u3 a0 b0 u4 u5 u6 u7 a1 b1 u8 u9");
    expect(queue.take(() => "take")).toBeUndefined();
  });
});

it("items that may not go are passed over and keep their place, those that are over leave", () => {
  const queue = new FairQueue<string>();
  const flow = { client: "a", priority: "normal" } as const;
  for (const item of ["over", "blocked", "first", "second"]) queue.add(flow, item);
  queue.add({ client: "b", priority: "normal" }, "other");
  const verdict = (item: string): Eligibility => (item === "over" ? "drop" : item === "blocked" ? "skip" : "take");
  expect([queue.take(verdict), queue.take(verdict), queue.take(verdict), queue.take(verdict)]).toEqual([
    "first",
    "other",
    "second",
    undefined,
  ]);
  expect(queue.take(() => "take")).toBe("blocked");
  queue.add(flow, "leaves");
  queue.remove(flow, "leaves");
  expect(queue.take(() => "take")).toBeUndefined();
});

it("a flow that may not go is not looked through", () => {
  const queue = new FairQueue<string>();
  for (const item of ["a1", "a2", "a3"]) queue.add({ client: "a", priority: "normal" }, item);
  queue.add({ client: "b", priority: "normal" }, "b1");
  const asked: string[] = [];
  const verdict = (item: string): Eligibility => {
    asked.push(item);
    return item.startsWith("a") ? "skip flow" : "take";
  };
  expect([queue.take(verdict), asked]).toEqual(["b1", ["a1", "b1"]]);
});

it("a client that comes now goes before the next item of one that was just served", () => {
  const queue = new FairQueue<string>();
  for (const item of ["a1", "a2"]) queue.add({ client: "a", priority: "normal" }, item);
  const first = queue.take(() => "take");
  expect(queue.hasOnly("a")).toBe(true);
  queue.add({ client: "b", priority: "normal" }, "b1");
  expect([queue.hasOnly("a"), queue.hasOnly("b")]).toEqual([false, false]);
  expect([first, queue.take(() => "take"), queue.take(() => "take")]).toEqual(["a1", "b1", "a2"]);
});

describe("a flow", () => {
  const [a, b]: Item[] = [
    { client: "a", priority: "normal" },
    { client: "b", priority: "normal" },
  ];

  it("pays for an item that was served together with that of another one by going later", () => {
    const queue = new FairQueue<string>();
    for (const item of ["a1", "a2"]) queue.add(a!, item);
    for (const item of ["b1", "b2"]) queue.add(b!, item);
    queue.charge(a!);
    queue.charge({ client: "c", priority: "high" }); // has nothing that waits: nothing to pay for
    const order = Array.from({ length: 5 }, () => queue.take(() => "take"));
    expect(order).toEqual(["b1", "a1", "b2", "a2", undefined]);
  });

  it("loses an item that is removed, and no other", () => {
    const queue = new FairQueue<string>();
    for (const item of ["a1", "a2"]) queue.add(a!, item);
    queue.remove(a!, "a3");
    queue.remove(b!, "a1");
    queue.remove(a!, "a1");
    expect([queue.take(() => "take"), queue.take(() => "take")]).toEqual(["a2", undefined]);
  });
});
