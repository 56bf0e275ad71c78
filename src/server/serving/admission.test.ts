import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import type { Priority } from "../../runtime/scheduling/scheduling-key.ts";
import { Admission } from "./admission.ts";

const never = new AbortController().signal;

/** Work that ends when told to. */
function task(): { work: () => Promise<void>; end: () => void; begun: () => boolean } {
  let begun = false;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { work: () => ((begun = true), ended), end, begun: () => begun };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("Admission", () => {
  it("runs so many at once, the next when one ends, and refuses what the queue does not hold", async () => {
    const admission = new Admission({ maxRunning: 2, maxWaiting: 1 });
    const tasks = Array.from({ length: 4 }, task);
    const caller = { client: "a", priority: "normal", signal: never } as const;
    const runs = tasks.slice(0, 3).map(({ work }) => admission.run(caller, work));
    expect([admission.running, admission.waiting]).toEqual([2, 1]);
    await expect(admission.run(caller, tasks[3]!.work)).rejects.toMatchObject({
      code: "QUEUE_FULL",
      retryable: true,
      retryAfterMs: expect.any(Number),
    });
    expect(tasks.map(({ begun }) => begun())).toEqual([true, true, false, false]);
    tasks[0]!.end();
    await settled();
    expect(tasks[2]!.begun()).toBe(true);
    for (const { end } of tasks) end();
    await Promise.all(runs);
    expect([admission.running, admission.waiting]).toEqual([0, 0]);
  });

  it("admits further requests of a client that has few, while one with many has all that it may have", async () => {
    const admission = new Admission({ maxRunning: 64, maxWaiting: 100 });
    const tasks = Array.from({ length: 80 }, (_, index) => ({ client: index < 72 ? "greedy" : "modest", ...task() }));
    const runs = tasks.map(({ client, work }) => admission.run({ client, priority: "normal", signal: never }, work));
    const begun = (client: string): number => tasks.filter((each) => each.client === client && each.begun()).length;
    expect([begun("greedy"), begun("modest")]).toEqual([60, 2]); // with 2 running, a client leaves 2 places free
    for (const { end } of tasks) end();
    await Promise.all(runs);
    expect([admission.running, admission.waiting]).toEqual([0, 0]);
  });

  it("keeps a sixteenth for clients without a running request, of the server and of a model", async () => {
    for (const [limits, models] of [
      [{ maxRunning: 32, maxWaiting: 100 }, new Map()],
      [{ maxRunning: 100, maxWaiting: 100 }, new Map([["m", { maxRunning: 32 }]])],
    ] as const) {
      const admission = new Admission(limits, models);
      const tasks = Array.from({ length: 40 }, task);
      const run = (client: string, { work }: { work: () => Promise<void> }): Promise<void> =>
        admission.run({ client, priority: "normal", signal: never, model: "m" }, work);
      const runs = tasks.map((each) => run("greedy", each));
      expect([admission.running, admission.waiting]).toEqual([30, 10]);
      const others = ["a", "b", "c"].map((client) => ({ client, ...task() }));
      runs.push(...others.map((each) => run(each.client, each)));
      expect(others.map(({ begun }) => begun())).toEqual([true, true, false]);
      others[0]!.end();
      await settled();
      expect(others[2]!.begun()).toBe(true);
      expect(admission.waiting).toBe(10);
      for (const { end } of [...tasks, ...others]) end();
      await Promise.all(runs);
      expect([admission.running, admission.waiting]).toEqual([0, 0]);
    }
  });

  it("takes turns between clients, and those of high priority first", async () => {
    const admission = new Admission({ maxRunning: 1, maxWaiting: 10 });
    const order: string[] = [];
    const first = task();
    const running = admission.run({ client: "x", priority: "normal", signal: never }, first.work);
    const ask = (client: string, name: string, priority: Priority = "normal"): Promise<void> =>
      admission.run({ client, priority, signal: never }, async () => void order.push(name));
    const all = [ask("a", "a1"), ask("a", "a2"), ask("a", "a3"), ask("b", "b1"), ask("b", "b2"), ask("c", "urgent", "high")];
    first.end();
    await Promise.all([running, ...all]);
    expect(order).toEqual(["urgent", "a1", "b1", "a2", "b2", "a3"]);
  });

  it("gives every client its weighted share of the turns, whatever others bring, and however urgent", async () => {
    const share = fc.array(fc.record({ client: fc.constantFrom("a", "b", "c", "d"), urgent: fc.boolean() }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(share, fc.integer({ min: 1, max: 3 }), async (requests, running) => {
        const admission = new Admission({ maxRunning: running, maxWaiting: 1000 });
        const first = task();
        const holding = Array.from({ length: running }, () =>
          admission.run({ client: "x", priority: "normal", signal: never }, first.work),
        );
        const order: string[] = [];
        const ask = (client: string, priority: Priority): Promise<void> =>
          admission.run({ client, priority, signal: never }, async () => void order.push(client));
        const urgent = Array.from({ length: 200 }, () => ask("flood", "high"));
        const others = requests.map(({ client, urgent: isUrgent }) => ask(client, isUrgent ? "high" : "normal"));
        const modest = ask("modest", "normal");
        first.end();
        await Promise.all([...holding, ...urgent, ...others, modest]);
        // At most 4 turns of each urgent flow, and one of each other, go before the first of a client that is not urgent.
        expect(order.indexOf("modest")).toBeLessThanOrEqual(4 * 5 + 4 + running);
      }),
      { numRuns: 30 },
    );
  });

  it("refuses the newest of the client that waits most, and not the first of another, when the queue is full", async () => {
    const admission = new Admission({ maxRunning: 1, maxWaiting: 4 });
    const first = task();
    const running = admission.run({ client: "a", priority: "normal", signal: never }, first.work);
    const outcomes: string[] = [];
    const ask = (client: string, name: string): Promise<void> =>
      admission
        .run({ client, priority: "normal", signal: never }, async () => void outcomes.push(name))
        .then(
          () => {},
          (error: InferyardError) => void outcomes.push(`${name} ${error.code}`),
        );
    const all = [ask("a", "a1"), ask("a", "a2"), ask("a", "a3"), ask("a", "a4"), ask("a", "a5"), ask("b", "b1"), ask("b", "b2")];
    all.push(ask("b", "b3"));
    await settled();
    expect(outcomes.toSorted()).toEqual(["a3 QUEUE_FULL", "a4 QUEUE_FULL", "a5 QUEUE_FULL", "b3 QUEUE_FULL"]);
    expect(admission.waiting).toBe(4);
    first.end();
    await Promise.all([running, ...all]);
    expect(outcomes.slice(4)).toEqual(["a1", "b1", "a2", "b2"]);
    expect([admission.running, admission.waiting]).toEqual([0, 0]);
  });

  it("forgets who leaves while waiting, and gives the place of a failure to the next", async () => {
    const admission = new Admission({ maxRunning: 1, maxWaiting: 10 });
    const first = task();
    const failing = admission.run({ client: "x", priority: "normal", signal: never }, async () => {
      await first.work();
      throw new InferyardError("RUN_FAILED", "it failed");
    });
    const canceller = new AbortController();
    const leaving = admission.run({ client: "a", priority: "normal", signal: canceller.signal }, async () => "ran");
    const staying = admission.run({ client: "a", priority: "normal", signal: never }, async () => "ran");
    canceller.abort();
    await expect(leaving).rejects.toMatchObject({ code: "ABORTED" });
    expect(admission.waiting).toBe(1);
    first.end();
    await expect(failing).rejects.toMatchObject({ code: "RUN_FAILED" });
    expect(await staying).toBe("ran");
    expect([admission.running, admission.waiting]).toEqual([0, 0]);
  });
});
