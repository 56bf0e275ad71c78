import { describe, expect, it } from "vitest";
import { InferyardError } from "../errors.ts";
import type { Priority } from "../runtime/turn.ts";
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
    const admission = new Admission({ running: 2, waiting: 1 });
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

  it("takes turns between clients, and those of high priority first", async () => {
    const admission = new Admission({ running: 1, waiting: 10 });
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

  it("forgets who leaves while waiting, and gives the place of a failure to the next", async () => {
    const admission = new Admission({ running: 1, waiting: 10 });
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
