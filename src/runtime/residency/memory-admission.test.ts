import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import type { MemoryAmounts, MemoryLimits } from "../selection/memory-budget.ts";
import { acquire as acquireLease } from "../../../test/runtime/fixtures/acquire.ts";
import { type Lease, Residency, type Resident } from "./residency.ts";
import type { Reservation } from "../selection/reservation.ts";

interface Model extends Resident {
  readonly name: string;
  alive: boolean;
}

interface ResidencyUnderTest {
  readonly residency: Residency<Model>;
  /** What happened, in order: "load a", "evict a for b", "unload a". */
  readonly log: string[];
  /** Bytes of the models that are alive or being loaded. */
  held(): number;
  acquire(name: string, over?: Partial<Reservation>, signal?: AbortSignal): Promise<Lease<Model>>;
}

const limited = (bytes: number, models = Number.POSITIVE_INFINITY): MemoryLimits => ({
  bytes: Number.isFinite(bytes) ? { memory: bytes } : {},
  models,
});

const nextTask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A residency of models of these sizes in bytes, by name. Loading takes one task of the event loop, and so does disposal unless `unloading` takes longer. */
function residencyWith(
  limits: MemoryLimits,
  sizes: Readonly<Record<string, number>>,
  waitMs = 1000,
  unloading = nextTask,
): ResidencyUnderTest {
  const log: string[] = [];
  const alive: string[] = [];
  const residency = new Residency<Model>({ keepAliveMs: 0, limits, waitMs });
  return {
    residency,
    log,
    held: () => alive.reduce((sum, name) => sum + (sizes[name] ?? 0), 0),
    acquire: (name, over = {}, signal) =>
      acquireLease(
        residency,
        name,
        { reference: name, location: name, ...over },
        async (_signal, booking) => {
          await booking.book({ memory: sizes[name] ?? 0 }, true);
          alive.push(name);
          await nextTask();
          log.push(`load ${name}`);
          const model: Model = {
            name,
            alive: true,
            async dispose(departure) {
              model.alive = false;
              await unloading();
              alive.splice(alive.indexOf(name), 1);
              log.push(departure.why === "evicted" ? `evict ${name} for ${departure.evictedFor}` : `unload ${name}`);
            },
          };
          return model;
        },
        signal,
      ),
  };
}

async function refusal(promise: Promise<unknown>): Promise<InferyardError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof InferyardError) return error;
  throw new Error(`not refused: ${String(error)}`);
}

const all = { a: 100, b: 100, c: 100, d: 100 };

describe("a full budget", () => {
  it("evicts the least recently used models first, and only as many as are needed", async () => {
    const { acquire, log } = residencyWith(limited(200), all);
    for (const name of ["a", "b", "a", "c", "b"]) (await acquire(name)).release();
    expect(log).toEqual(["load a", "load b", "evict b for c", "load c", "evict a for b", "load b"]);
  });

  it("unloads as many as it takes", async () => {
    const { acquire, log } = residencyWith(limited(200), { ...all, big: 200 });
    for (const name of ["a", "b", "big"]) (await acquire(name)).release();
    expect(log).toEqual(["load a", "load b", "evict a for big", "evict b for big", "load big"]);
  });

  it("waits for an eviction that takes longer than a load may wait, and refuses after it what does not fit even then", async () => {
    const unloading = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
    const { acquire, log } = residencyWith(limited(200), { ...all, big: 200 }, 1, unloading);
    const kept = await acquire("a");
    (await acquire("b")).release();
    (await acquire("c")).release();
    expect(log).toEqual(["load a", "load b", "evict b for c", "load c"]);
    expect((await refusal(acquire("big"))).code).toBe("MEMORY_BUDGET");
    expect(log.at(-1)).toBe("evict c for big");
    kept.release();
  });

  it("counts loads in flight: four at once never hold more than fits", async () => {
    const { acquire, held } = residencyWith(limited(200), all);
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, held())), 0);
    const names = ["a", "b", "c", "d"];
    await Promise.all(names.map(async (name) => (await acquire(name)).release()));
    clearInterval(watch);
    expect(peak).toBeLessThanOrEqual(200);
  });

  it("limits the number of models too", async () => {
    const { acquire, log } = residencyWith(limited(Number.POSITIVE_INFINITY, 1), all);
    for (const name of ["a", "b"]) (await acquire(name)).release();
    expect(log).toEqual(["load a", "evict a for b", "load b"]);
  });

  it("never evicts a model in use: a load waits for it, and goes on when it is given back", async () => {
    const { acquire, log } = residencyWith(limited(100), all);
    const lease = await acquire("a");
    const waiting = acquire("b");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(log).toEqual(["load a"]);
    expect(lease.item.alive).toBe(true);
    lease.release();
    await waiting;
    expect(log).toEqual(["load a", "evict a for b", "load b"]);
  });

  it("refuses after a while, with all the numbers and who holds the memory, and the next load works", async () => {
    const { acquire } = residencyWith(limited(250), { ...all, a: 140 }, 20);
    const held = [await acquire("a"), await acquire("b", { pinned: true })];
    held[1]?.release();
    const error = await refusal(acquire("c"));
    expect(error).toMatchObject({ code: "MEMORY_BUDGET", retryable: true });
    expect(error.message.split("\n")).toEqual([
      "c needs about 1 MB, and the budget of 1 MB has 1 MB left",
      "  a   1 MB   in use (1 user)",
      "  b   1 MB   pinned, idle",
    ]);
    expect(error.data).toMatchObject({
      need: { memory: 100 },
      limits: { bytes: { memory: 250 }, models: null },
      holders: [
        { reference: "a", bytes: 140 },
        { reference: "b", bytes: 100 },
      ],
    });
    held[0]?.release();
    await expect(acquire("c")).resolves.toBeDefined();
  });

  it("refuses at once a load for which the pinned models leave too little memory", async () => {
    const { acquire } = residencyWith(limited(150), all, 60_000);
    (await acquire("a", { pinned: true })).release();
    expect((await refusal(acquire("b"))).code).toBe("MEMORY_BUDGET");
  });

  it("a caller who cancels leaves the queue, and the next one takes its position", async () => {
    const { acquire, log } = residencyWith(limited(100), all, 60_000);
    const lease = await acquire("a");
    const controller = new AbortController();
    const cancelled = refusal(acquire("b", {}, controller.signal));
    const patient = acquire("c");
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect((await cancelled).code).toBe("ABORTED");
    lease.release();
    await patient;
    expect(log).toEqual(["load a", "evict a for c", "load c"]);
  });

  it("is not starved by a stream of requests: a model held only for pieces of work takes no new ones, and leaves", async () => {
    const { acquire, log } = residencyWith(limited(100), all);
    let lease = await acquire("a", { leaseKind: "work" });
    const waiting = acquire("b", { leaseKind: "work" });
    await new Promise((resolve) => setImmediate(resolve));
    const next = acquire("a", { leaseKind: "work" }); // comes while the first is still at work
    lease.release();
    (await waiting).release();
    lease = await next;
    expect(log).toEqual(["load a", "evict a for b", "load b", "evict b for a", "load a"]);
    lease.release();
  });

  it("lets new users in to a model that a handle holds: it will not be free soon", async () => {
    const { acquire, log } = residencyWith(limited(100), all, 50);
    const handle = await acquire("a");
    const refused = refusal(acquire("b"));
    await new Promise((resolve) => setImmediate(resolve));
    (await acquire("a", { leaseKind: "work" })).release();
    expect((await refused).code).toBe("MEMORY_BUDGET");
    expect(log).toEqual(["load a"]);
    handle.release();
  });

  it("ends the draining when the load that needed the memory gives up", async () => {
    const { acquire } = residencyWith(limited(100), all, 20);
    const lease = await acquire("a", { leaseKind: "work" });
    const refused = refusal(acquire("b"));
    const second = acquire("a", { leaseKind: "work" });
    expect((await refused).code).toBe("MEMORY_BUDGET");
    expect((await second).item).toBe(lease.item);
  });

  it("gives up what a failed load booked", async () => {
    const { residency, acquire } = residencyWith(limited(100), all);
    const failing = acquireLease(residency, "x", { reference: "x", location: "x" }, async (_signal, booking) => {
      await booking.book({ memory: 100 }, true);
      throw new InferyardError("LOAD_FAILED", "no");
    });
    await expect(failing).rejects.toThrow("no");
    await expect(acquire("a")).resolves.toBeDefined();
  });

  it("closing refuses those who wait", async () => {
    const { residency, acquire } = residencyWith(limited(100), all, 60_000);
    await acquire("a");
    const waiting = refusal(acquire("b"));
    await new Promise((resolve) => setImmediate(resolve));
    await residency.close();
    expect((await waiting).code).toBe("DISPOSED");
  });
});

describe("measured sizes", () => {
  it("that exceed the budget by more than a tenth make idle models leave", async () => {
    const { residency, acquire, log } = residencyWith(limited(200), all);
    (await acquire("a")).release();
    const bookings: { correct(amounts: MemoryAmounts): void }[] = [];
    const lease = await acquireLease(residency, "grown", { reference: "grown", location: "grown" }, async (_signal, booking) => {
      await booking.book({ memory: 100 }, true);
      bookings.push(booking);
      return { name: "grown", alive: true, dispose: async () => {} };
    });
    bookings[0]?.correct({ memory: 119 });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(log).toEqual(["load a"]);
    bookings[0]?.correct({ memory: 121 });
    await vi.waitFor(() => expect(log).toEqual(["load a", "evict a for the budget"]), { timeout: 60_000 });
    lease.release();
  });
});

describe("who waits, and who goes", () => {
  it("a caller who cancels while a model is in memory changes nothing: it stays, and the next one has it", async () => {
    const { acquire, log } = residencyWith(limited(1000), all);
    (await acquire("a")).release();
    expect((await refusal(acquire("a", {}, AbortSignal.abort()))).code).toBe("ABORTED");
    (await acquire("a")).release();
    expect(log).toEqual(["load a"]);
  });

  it("a caller who cancels while a model leaves stops waiting for it", async () => {
    const { residency, acquire } = residencyWith(limited(1000), all);
    (await acquire("a")).release();
    const controller = new AbortController();
    const leaving = residency.clear();
    const cancelled = refusal(acquire("a", {}, controller.signal));
    controller.abort();
    expect((await cancelled).code).toBe("ABORTED");
    await leaving;
  });

  it("what is in memory, loading or leaving is told", async () => {
    const { residency, acquire } = residencyWith(limited(1000), all);
    const loading = acquire("a");
    expect(residency.entries()).toEqual([]);
    const lease = await loading;
    expect(residency.entries()).toMatchObject([{ reference: "a", state: "in use (1 user)" }]);
    const second = await acquire("a", { leaseKind: "work" });
    expect(residency.entries()).toMatchObject([{ state: "in use (2 users)" }]);
    second.release();
    lease.release();
    const leaving = residency.clear();
    expect(residency.entries()).toMatchObject([{ reference: "a", state: "leaving" }]);
    await leaving;
    expect(residency.entries()).toEqual([]);
  });

  it("a model given back after all was closed is not kept", async () => {
    const { residency, acquire, log } = residencyWith(limited(1000), all);
    const lease = await acquire("a");
    const closing = residency.close();
    lease.release();
    await closing;
    expect(log).toEqual(["load a", "unload a"]);
  });

  it("without limits every booking is granted", async () => {
    const residency = new Residency<Model>({ keepAliveMs: 0 });
    const granted: unknown[] = [];
    await acquireLease(residency, "a", { reference: "a", location: "a" }, async (_signal, booking) => {
      await booking.book({ memory: 1e18 }, false);
      granted.push(booking.grow({ memory: 1e18 }));
      booking.correct({ memory: 1e18 });
      return { name: "a", alive: true, dispose: async () => {} };
    });
    expect(granted).toEqual([true]);
  });

  it("replicas are granted memory that is free, and evict nothing", async () => {
    const { residency, acquire } = residencyWith(limited(250), all);
    (await acquire("a")).release();
    const granted: boolean[] = [];
    await acquireLease(residency, "b", { reference: "b", location: "b" }, async (_signal, booking) => {
      granted.push(booking.grow({ memory: 1 })); // nothing was booked yet
      await booking.book({ memory: 100 }, true);
      granted.push(booking.grow({ memory: 50 }), booking.grow({ memory: 1 }));
      return { name: "b", alive: true, dispose: async () => {} };
    });
    expect(granted).toEqual([false, true, false]);
  });

  it("what is corrected before it was booked counts for nothing", async () => {
    const { residency, acquire } = residencyWith(limited(100), all);
    await acquireLease(residency, "b", { reference: "b", location: "b" }, async (_signal, booking) => {
      booking.correct({ memory: 1000 });
      return { name: "b", alive: true, dispose: async () => {} };
    });
    await expect(acquire("a")).resolves.toBeDefined();
  });

  it("a second queued load drains no second model, and both are loaded", async () => {
    const { acquire, log } = residencyWith(limited(200), all);
    const held = [await acquire("a", { leaseKind: "work" }), await acquire("b", { leaseKind: "work" })];
    const waiting = [acquire("c", { leaseKind: "work" }), acquire("d", { leaseKind: "work" })];
    await new Promise((resolve) => setImmediate(resolve));
    (await acquire("b", { leaseKind: "work" })).release(); // it is not drained
    for (const lease of held) lease.release();
    for (const lease of await Promise.all(waiting)) lease.release();
    expect(log).toContain("evict a for c");
    expect(log.filter((line) => line.startsWith("load")).toSorted()).toEqual(["load a", "load b", "load c", "load d"]);
  });

  it("of too many models the pinned ones stay, and the error says how many there may be", async () => {
    const { acquire } = residencyWith(limited(Number.POSITIVE_INFINITY, 1), all, 60_000);
    (await acquire("a", { pinned: true })).release();
    const error = await refusal(acquire("b"));
    expect(error.message).toMatch(/^b cannot be loaded: 1 of at most 1 models are in memory, and none can be unloaded/);
    expect(error.data["limits"]).toEqual({ bytes: {}, models: 1 });
  });

  it("a load that is cancelled before it books memory books none", async () => {
    const { residency, acquire } = residencyWith(limited(100), all);
    const controller = new AbortController();
    const begun: unknown[] = [];
    const cancelled = refusal(
      acquireLease(
        residency,
        "x",
        { reference: "x", location: "x" },
        async (signal, booking) => {
          await new Promise((resolve) => setTimeout(resolve, 10));
          begun.push(signal.aborted);
          await booking.book({ memory: 100 }, true);
          return { name: "x", alive: true, dispose: async () => {} };
        },
        controller.signal,
      ),
    );
    controller.abort();
    expect((await cancelled).code).toBe("ABORTED");
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(begun).toEqual([true]);
    await expect(acquire("a")).resolves.toBeDefined();
  });

  it("the budget of a device is told by its name", async () => {
    const { residency } = residencyWith({ bytes: { "cuda:0": 100 }, models: 9 }, all);
    const load = async (
      _signal: AbortSignal,
      booking: { book(need: MemoryAmounts, known: boolean): Promise<void> },
    ): Promise<Model> => {
      await booking.book({ memory: 5, "cuda:0": 200e6 }, true);
      return { name: "x", alive: true, dispose: async () => {} };
    };
    const error = await refusal(acquireLease(residency, "x", { reference: "x", location: "x" }, load));
    expect(error.message).toBe("x needs about 200 MB on cuda:0, and the budget of 1 MB has 1 MB left");
  });
});

describe("unloading by name", () => {
  it("waits for the users, lets nobody new in, and whoever came meanwhile loads anew", async () => {
    const { residency, acquire, log } = residencyWith(limited(1000), all);
    const lease = await acquire("a");
    const unloading = residency.unload("a");
    const next = acquire("a");
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(lease.item.alive).toBe(true);
    expect(log).toEqual(["load a"]);
    lease.release();
    expect(await unloading).toBe(1);
    expect((await next).item).not.toBe(lease.item);
    expect(log).toEqual(["load a", "unload a", "load a"]);
  });

  it("whoever asks for one that is leaving waits until it has left, and gets another", async () => {
    const { residency, acquire, log } = residencyWith(limited(1000), all);
    (await acquire("a")).release();
    const [, next] = await Promise.all([residency.clear(), acquire("a")]);
    expect(next.item.alive).toBe(true);
    expect(log).toEqual(["load a", "unload a", "load a"]);
  });

  it("cancelled, the model stays and takes new users", async () => {
    const { residency, acquire } = residencyWith(limited(1000), all);
    const lease = await acquire("a");
    const controller = new AbortController();
    const unloading = refusal(residency.unload("a", controller.signal));
    const next = acquire("a");
    controller.abort();
    expect((await unloading).code).toBe("ABORTED");
    expect((await next).item).toBe(lease.item);
  });

  it("takes pinned models too, and says when there was none", async () => {
    const { residency, acquire, log } = residencyWith(limited(1000), all);
    (await acquire("a", { pinned: true })).release();
    await residency.clear();
    expect(log).toEqual(["load a"]);
    expect(await residency.unload("a")).toBe(1);
    expect(await residency.unload("a")).toBe(0);
  });
});

/** One user: who takes which model, for how many rounds, and what else happens. */
const step = fc.record({
  name: fc.constantFrom("a", "b", "c", "d"),
  hold: fc.constantFrom("handle" as const, "work" as const),
  rounds: fc.nat({ max: 3 }),
  also: fc.constantFrom("nothing", "nothing", "unload", "cancel"),
});

describe("any interleaving", () => {
  it("eight first requests at the same moment load once, whatever else goes on", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const { residency } = residencyWith(limited(1000), all);
        let loads = 0;
        const load = async (): Promise<Model> => {
          loads += 1;
          await scheduler.schedule(Promise.resolve(), "load");
          return { name: "a", alive: true, dispose: async () => {} };
        };
        const asks = Array.from({ length: 8 }, () => acquireLease(residency, "a", { reference: "a", location: "a" }, load));
        await scheduler.waitFor(Promise.all(asks));
        expect(loads).toBe(1);
      }),
      { numRuns: 100 },
    );
  });

  it("a model in use is alive, the budget holds, nobody waits for ever, and nothing is left booked", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 24 }), fc.scheduler(), async (steps, scheduler) => {
        const { residency, acquire, held } = residencyWith(limited(200), all, 60_000);
        const users = steps.map(async ({ name, hold: leaseKind, rounds, also }) => {
          await scheduler.schedule(Promise.resolve(), `${name} arrives`);
          const controller = new AbortController();
          const asked = acquire(name, { leaseKind }, controller.signal);
          if (also === "cancel") controller.abort();
          const lease = await asked.catch((error: unknown) => {
            if (!(error instanceof InferyardError) || error.code !== "ABORTED") throw error;
          });
          expect(held()).toBeLessThanOrEqual(200);
          if (lease === undefined) return;
          expect(lease.item.alive).toBe(true);
          const unloading = also === "unload" ? residency.unload(name) : undefined;
          for (let round = 0; round < rounds; round += 1) {
            await scheduler.schedule(Promise.resolve(), `${name} works`);
            expect(lease.item.alive).toBe(true);
            expect(held()).toBeLessThanOrEqual(200);
          }
          lease.release();
          await unloading;
        });
        await scheduler.waitFor(Promise.all(users));
        await residency.clear();
        await vi.waitFor(() => expect(held()).toBe(0), { timeout: 60_000 });
        expect(residency.entries()).toEqual([]);
        await Promise.all([acquire("a"), acquire("b")]); // all of the budget is free again
      }),
      { numRuns: 100 },
    );
  });

  it("one after the other, what leaves is what was used longest ago", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 30 }), async (names) => {
        const { acquire, log } = residencyWith(limited(200), all);
        const expected: string[] = [];
        let loaded: string[] = []; // least recently used first
        for (const name of names) {
          if (!loaded.includes(name)) {
            const victim = loaded.length === 2 ? loaded.shift() : undefined;
            expected.push(...(victim === undefined ? [] : [`evict ${victim} for ${name}`]), `load ${name}`);
          }
          loaded = [...loaded.filter((other) => other !== name), name];
          (await acquire(name)).release();
        }
        expect(log).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });
});
