/** @isolated since it counts the bytes of its heap */
import { getHeapStatistics } from "node:v8";
import { expect, it, vi } from "vitest";
import {
  type CollectedProcess,
  IdleCollection,
  collectAndShrink,
  getYoungBytes,
  startIdleCollection,
  startIdleHeapCollection,
} from "./idle-collection.ts";

const mebi = 2 ** 20;

/** A process with live bytes and garbage; a collection frees half of the garbage and takes 50 ms. */
class Scripted implements CollectedProcess {
  live = 80 * mebi;
  garbage = 0;
  busy = 0;
  open = 10;
  time = 0;
  readonly collections: number[] = [];
  readonly heldBytes = (): number => this.live + this.garbage;
  readonly utilization = (): number => this.busy;
  readonly handles = (): number => this.open;
  trims = 0;
  readonly trim = (): void => void (this.trims += 1);
  readonly now = (): number => this.time;
  readonly processorMs = (): number => this.time;
  readonly collect = (): void => {
    this.collections.push(this.time / 1000);
    this.garbage /= 2;
    this.time += 50;
  };
}

function run(scripted: Scripted, collection: IdleCollection, seconds: number): readonly number[] {
  const from = scripted.collections.length;
  for (let check = 0; check < seconds; check += 1) {
    scripted.time = (Math.floor(scripted.time / 1000) + 1) * 1000;
    collection.check();
  }
  return scripted.collections.slice(from);
}

it("collects after a flood, again while that frees much, and not within one", () => {
  const scripted = new Scripted();
  const collection = new IdleCollection(scripted);
  expect(run(scripted, collection, 60)).toEqual([]);
  scripted.garbage = 1000 * mebi;
  scripted.busy = 1;
  expect(run(scripted, collection, 5)).toEqual([]);
  scripted.busy = 0.3;
  expect(run(scripted, collection, 5)).toEqual([66, 67, 68, 69]);
  expect(run(scripted, collection, 5)).toEqual([75]); // V8's young generation
  expect(scripted.trims).toBe(5);
});

it("collects what a flood left, although an earlier collection met its requests", () => {
  const scripted = new Scripted();
  const collection = new IdleCollection(scripted);
  scripted.live = 300 * mebi;
  run(scripted, collection, 3);
  [scripted.live, scripted.garbage] = [80 * mebi, 220 * mebi];
  run(scripted, collection, 24);
  expect(scripted.garbage).toBeLessThan(48 * mebi);
});

it.each([
  ["connections are closed", { open: 100 }, { open: 20 }],
  ["there is less to do", { busy: 0.5 }, { busy: 0.1 }],
])("collects at once what an attack left behind which several collections were in vain, when %s", (_what, during, after) => {
  const scripted = new Scripted();
  const collection = new IdleCollection(scripted);
  Object.assign(scripted, { live: 300 * mebi, ...during });
  run(scripted, collection, 100);
  Object.assign(scripted, { live: 80 * mebi, garbage: 220 * mebi, ...after });
  run(scripted, collection, 7);
  expect(scripted.garbage).toBeLessThan(48 * mebi);
});

it("seldom collects where what has grown is in use", () => {
  const scripted = new Scripted();
  const collection = new IdleCollection(scripted);
  scripted.live = 300 * mebi;
  expect(run(scripted, collection, 3600).length).toBeLessThan(60);
  scripted.garbage = 300 * mebi; // and again once there is more
  run(scripted, collection, 600);
  expect(scripted.garbage).toBeLessThan(100 * mebi);
});

it("waits between two sequences, however much garbage there is", () => {
  const scripted = new Scripted();
  const collection = new IdleCollection(scripted);
  const times: number[] = [];
  for (let second = 0; second < 100; second += 1) {
    scripted.garbage += 100 * mebi;
    times.push(...run(scripted, collection, 1));
  }
  expect(times.length).toBeLessThan(60);
  expect(times.some((time, index) => index > 0 && time - times[index - 1]! >= 6)).toBe(true);
});

it("adds nothing that other code finds", () => {
  startIdleCollection()(); // it is found when it is first needed
  expect("gc" in globalThis).toBe(process.execArgv.includes("--expose-gc"));
});

it("collects the heap of a worker thread for less growth than that of a process", () => {
  const [thread, whole] = [new Scripted(), new Scripted()];
  const [ofThread, ofProcess] = [new IdleCollection(thread, 6 * mebi), new IdleCollection(whole)];
  for (const each of [thread, whole]) {
    each.live = 20 * mebi;
    each.garbage = 0;
  }
  run(thread, ofThread, 2);
  run(whole, ofProcess, 2);
  for (const each of [thread, whole]) each.garbage = 16 * mebi;
  expect(run(thread, ofThread, 4).length).toBeGreaterThan(1);
  expect(run(whole, ofProcess, 4)).toEqual([]);
});

it("collects the heap of the thread that it was started on", async () => {
  const end = startIdleHeapCollection();
  let kept: readonly object[] = Array.from({ length: 400_000 }, (_, index) => ({ index, text: `x${index}` }));
  expect(kept).toHaveLength(400_000);
  const before = getHeapStatistics().used_heap_size;
  kept = [];
  await vi.waitFor(() => expect(getHeapStatistics().used_heap_size).toBeLessThan(before - 16 * mebi), {
    timeout: 50_000,
    interval: 100,
  });
  end();
}, 60_000);

it("the young generation shrinks with a collection although the thread goes on allocating", async () => {
  const grow = (): unknown[] => Array.from({ length: 60 }, () => Array.from({ length: 20_000 }, (_, index) => ({ index })));
  expect(grow()).toHaveLength(60);
  const before = getYoungBytes();
  expect(before).toBeGreaterThan(8 * 2 ** 20);
  await collectAndShrink(() => expect.unreachable());
  expect(getYoungBytes()).toBeLessThan(before / 2);
});
