import { describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { Admission } from "./admission.ts";
import { deepCopy } from "./plain-data.ts";
import { CallCoalescer } from "./call-coalescing.ts";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Callers of one queue, and the work they ask for, which ends when told to. */
function scene(limits = { maxRunning: 4, maxWaiting: 10 }) {
  const shared = new CallCoalescer();
  const admission = new Admission(limits);
  const runs: { readonly signal: AbortSignal; readonly end: (how: number[] | Error) => void }[] = [];
  const ask = (key: string, client = "a", signal = new AbortController().signal) =>
    shared.run<number[]>({
      key,
      signal,
      schedule: (waiting, work) => admission.run({ client, priority: "normal", signal: waiting }, work),
      copy: deepCopy,
      work: (together) =>
        new Promise<number[]>((resolve, reject) => {
          runs.push({ signal: together, end: (how) => (how instanceof Error ? reject(how) : resolve(how)) });
        }),
    });
  return { admission, runs, ask };
}

describe("SharedWork", () => {
  it("works once for all who ask the same meanwhile, and anew for who asks after", async () => {
    const { admission, runs, ask } = scene();
    const both = [ask("x"), ask("x"), ask("y")];
    await settled();
    expect([runs.length, admission.running, admission.waiting]).toEqual([2, 2, 0]);
    runs[0]!.end([1]);
    runs[1]!.end([2]);
    expect((await Promise.all(both)).map(({ result, isOwn }) => [result, isOwn])).toEqual([
      [[1], true],
      [[1], false],
      [[2], true],
    ]);
    void ask("x");
    await settled();
    expect(runs.length).toBe(3);
  });

  it("gives each a result of its own to change", async () => {
    const { runs, ask } = scene();
    const asked = [ask("x"), ask("x"), ask("x")];
    await settled();
    runs[0]!.end([1, 2]);
    const [first, ...others] = await Promise.all(
      asked.map(async (one) => {
        const { result } = await one;
        const seen = [...result];
        result.fill(0);
        return seen;
      }),
    );
    expect([first, ...others]).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  it("goes on for the others when the one who does the work leaves, and ends when nobody is left", async () => {
    const { admission, runs, ask } = scene({ maxRunning: 1, maxWaiting: 10 });
    const [leader, follower] = [new AbortController(), new AbortController()];
    const first = ask("x", "a", leader.signal);
    const second = ask("x", "b", follower.signal);
    await settled();
    leader.abort();
    await expect(first).rejects.toMatchObject({ code: "ABORTED" });
    expect([runs[0]!.signal.aborted, admission.running]).toEqual([false, 1]);
    const third = ask("x");
    runs[0]!.end([7]);
    expect([(await second).result, (await third).result]).toEqual([[7], [7]]);
    const last = ask("x", "b", follower.signal);
    await settled();
    follower.abort();
    await expect(last).rejects.toMatchObject({ code: "ABORTED" });
    expect(runs[1]!.signal.aborted).toBe(true);
    expect(runs[1]!.signal.reason).toBe(follower.signal.reason);
    const newcomer = ask("x"); // must not share what was given up
    runs[1]!.end(new InferyardError("ABORTED", "given up"));
    await settled();
    runs[2]!.end([8]);
    expect((await newcomer).result).toEqual([8]);
  });

  it("tells all of a failure, and keeps none", async () => {
    const { admission, runs, ask } = scene();
    const asked = [ask("x"), ask("x")];
    await settled();
    runs[0]!.end(new InferyardError("HOST_DIED", "it died"));
    for (const one of asked) await expect(one).rejects.toMatchObject({ code: "HOST_DIED" });
    const again = ask("x");
    await settled();
    runs[1]!.end([1]);
    expect((await again).result).toEqual([1]);
    await settled();
    expect(admission.running).toBe(0);
  });

  it("is done in the first turn that any of them has, and the others leave the queue", async () => {
    const { admission, runs, ask } = scene({ maxRunning: 1, maxWaiting: 3 });
    const before = ask("before", "busy");
    await settled();
    const queued = [ask("other", "busy"), ask("x", "busy"), ask("x", "quick")];
    await settled();
    expect(admission.waiting).toBe(3);
    await expect(ask("x", "busy")).rejects.toMatchObject({ code: "QUEUE_FULL" }); // a place of its own, which there is not
    runs[0]!.end([]);
    await before;
    await settled();
    runs[1]!.end([]); // "other", whose client came first
    await queued[0];
    await settled();
    expect(admission.waiting).toBe(0);
    const late = ask("x", "late"); // it has begun: no place is needed
    runs[2]!.end([5]);
    expect((await Promise.all([queued[1], queued[2], late])).map((answer) => answer!.result)).toEqual([[5], [5], [5]]);
    expect(runs.length).toBe(3);
  });
});
