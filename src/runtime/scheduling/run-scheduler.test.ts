import { expect, it, vi } from "vitest";
import { RunScheduler } from "./run-scheduler.ts";
import type { SchedulingKey } from "./scheduling-key.ts";

const turnOf = (client: string): SchedulingKey => ({ client, priority: "normal" });

/** Runs that end when they are told to, and their names in the order in which they began. */
function scripted(): { begun: string[]; work: (name: string) => () => Promise<string>; end: (name: string) => Promise<void> } {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    work: (name) => () =>
      new Promise((resolve) => {
        begun.push(name);
        ends.set(name, () => resolve(name));
      }),
    end: async (name) => {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it("a client that comes later goes before the second run of one that came first", async () => {
  const turns = new RunScheduler();
  const { begun, work, end } = scripted();
  for (const name of ["a1", "a2", "a3"]) void turns.run(turnOf("a"), 1, undefined, work(name));
  const other = turns.run(turnOf("b"), 1, undefined, work("b1"));
  await end("a1");
  await end(begun[1] ?? "");
  await end(begun[2] ?? "");
  expect(begun).toHaveLength(4);
  expect(begun.indexOf("b1")).toBeLessThan(begun.indexOf("a3"));
  await end("b1");
  expect(await other).toBe("b1");
});

it("as many run at a time as the limit says", async () => {
  const turns = new RunScheduler();
  const { begun, work, end } = scripted();
  for (const name of ["a", "b", "c"]) void turns.run(turnOf(name), 2, undefined, work(name));
  await end("");
  expect(begun).toEqual(["a", "b"]);
  await end("a");
  expect(begun).toEqual(["a", "b", "c"]);
});

it("who leaves the queue gets ABORTED, and a run that fails gives its turn on", async () => {
  const turns = new RunScheduler();
  const { begun, work, end } = scripted();
  const leaving = new AbortController();
  const failing = turns.run(turnOf("a"), 1, undefined, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error("failed");
  });
  const left = turns.run(turnOf("b"), 1, leaving.signal, work("b"));
  const stays = turns.run(turnOf("c"), 1, undefined, work("c"));
  leaving.abort();
  await expect(left).rejects.toMatchObject({ code: "ABORTED" });
  await expect(failing).rejects.toThrow("failed");
  await end("c");
  expect(await stays).toBe("c");
  expect(begun).toEqual(["c"]);
});

it("between two runs of one client, one that holds the model may bring its run, and need not", async () => {
  let isBusy = false;
  const turns = new RunScheduler(() => isBusy);
  const { begun, work, end } = scripted();
  const release = turns.hold("b");
  for (const name of ["a1", "a2", "a3"]) void turns.run(turnOf("a"), 1, undefined, work(name));
  await end("a1");
  const other = turns.run(turnOf("b"), 1, undefined, work("b1"));
  await vi.waitFor(() => expect(begun.length).toBe(2));
  await end(begun[1] ?? "");
  await vi.waitFor(() => expect(begun.length).toBe(3));
  expect(begun.slice(1, 3)).toContain("b1");
  isBusy = true; // with a run that is not scheduled here
  await end(begun[2] ?? "");
  await vi.waitFor(() => expect(begun.length).toBe(4));
  await other;
  release();
  await end(begun[3] ?? "");
});

it("a client that holds the model and brings no run holds up nobody for long", async () => {
  const turns = new RunScheduler();
  const { begun, work, end } = scripted();
  turns.hold("b");
  const runs = ["a1", "a2"].map((name) => turns.run(turnOf("a"), 1, undefined, work(name)));
  await end("a1");
  await vi.waitFor(() => expect(begun).toEqual(["a1", "a2"]));
  await end("a2");
  expect(await Promise.all(runs)).toEqual(["a1", "a2"]);
});
