import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { InferyardError, abortError } from "../../contract/errors.ts";
import { acquire } from "../../../test/runtime/fixtures/acquire.ts";
import type { LoadOutcome } from "../loading/loading.ts";
import { Residency, type Resident } from "./residency.ts";
import type { Reservation } from "../selection/reservation.ts";

interface Thing extends Resident {
  readonly number: number;
  disposed: boolean;
}

function factory(): { load: () => Promise<Thing>; made: Thing[] } {
  const made: Thing[] = [];
  const load = async (): Promise<Thing> => {
    const thing: Thing = {
      number: made.length,
      disposed: false,
      async dispose() {
        thing.disposed = true;
      },
    };
    made.push(thing);
    return thing;
  };
  return { load, made };
}

const reservation = (reference: string, over: Partial<Reservation> = {}): Reservation => ({
  reference,
  location: reference,
  ...over,
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("residency", () => {
  it("two first requests for a model load it once", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const leases = await Promise.all([
      acquire(residency, "a", reservation("a"), load),
      acquire(residency, "a", reservation("a"), load),
    ]);
    expect(made).toHaveLength(1);
    expect(leases[0].item).toBe(leases[1].item);
  });

  it("unloads what nobody uses after keepAlive, and not before", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const lease = await acquire(residency, "a", reservation("a"), load);
    await vi.advanceTimersByTimeAsync(5000);
    expect(made[0]?.disposed).toBe(false);
    lease.release();
    lease.release();
    await vi.advanceTimersByTimeAsync(999);
    expect(made[0]?.disposed).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    expect(made[0]?.disposed).toBe(true);
  });

  it("a new user within keepAlive keeps the model; one after it loads it anew", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    (await acquire(residency, "a", reservation("a"), load)).release();
    await vi.advanceTimersByTimeAsync(900);
    (await acquire(residency, "a", reservation("a"), load)).release();
    await vi.advanceTimersByTimeAsync(900);
    expect(made[0]?.disposed).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(made[0]?.disposed).toBe(true);
    await acquire(residency, "a", reservation("a"), load);
    expect(made).toHaveLength(2);
  });

  it("a lease sets the keep-alive of its item: until another does, for all users, until it is unloaded", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const first = await acquire(residency, "a", reservation("a"), load);
    expect(residency.entries()[0]?.expiresAt).toBe(Date.now() + 1000);
    first.setKeepAlive(5000);
    first.release();
    expect(residency.entries()[0]?.expiresAt).toBe(Date.now() + 5000);
    await vi.advanceTimersByTimeAsync(4000);
    const second = await acquire(residency, "a", reservation("a"), load);
    second.setKeepAlive(Number.POSITIVE_INFINITY);
    second.release();
    expect(residency.entries()[0]?.expiresAt).toBeNull();
    await vi.advanceTimersByTimeAsync(1e9);
    const third = await acquire(residency, "a", reservation("a"), load);
    third.setKeepAlive(0);
    expect(made[0]?.disposed).toBe(false);
    third.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(made.map(({ disposed }) => disposed)).toEqual([true]);
    const fourth = await acquire(residency, "a", reservation("a"), load);
    expect(residency.entries()[0]?.expiresAt).toBe(Date.now() + 1000);
    fourth.release();
  });

  it("an item without a keep-alive, by strategy, gets none", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const lease = await acquire(residency, "a", reservation("a", { keepAliveExempt: true }), load);
    lease.setKeepAlive(0);
    lease.release();
    await vi.advanceTimersByTimeAsync(5000);
    expect(made[0]?.disposed).toBe(false);
    expect(residency.entries()[0]?.expiresAt).toBeNull();
  });

  it("keepAlive 0 keeps for ever, until it is cleared", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 0 });
    (await acquire(residency, "a", reservation("a"), load)).release();
    await vi.advanceTimersByTimeAsync(1e9);
    expect(made[0]?.disposed).toBe(false);
    await residency.clear();
    expect(made[0]?.disposed).toBe(true);
  });

  it("a model in use is never unloaded by clear", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    await acquire(residency, "a", reservation("a"), load);
    await residency.clear();
    expect(made[0]?.disposed).toBe(false);
    expect(await residency.items()).toEqual(made);
  });

  it("a failed load is tried anew by the next caller", async () => {
    const { load } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const failing = (): Promise<Thing> => Promise.reject(new InferyardError("LOAD_FAILED", "no"));
    await expect(acquire(residency, "a", reservation("a"), failing)).rejects.toThrow("no");
    expect(await residency.items()).toEqual([]);
    await expect(acquire(residency, "a", reservation("a"), load)).resolves.toBeDefined();
  });

  it("all who wait for a load get what came of it, and the next caller tries anew", async () => {
    const { load } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const failed = { ok: false, stage: "load", error: new InferyardError("LOAD_FAILED", "no") } as const;
    let tried = 0;
    const failing = async (): Promise<LoadOutcome<Thing>> => ((tried += 1), failed);
    const both = [residency.acquire("a", reservation("a"), failing), residency.acquire("a", reservation("a"), failing)];
    expect(await Promise.all(both)).toEqual([failed, failed]);
    expect([tried, await residency.items(), residency.has("a")]).toEqual([1, [], false]);
    expect((await acquire(residency, "a", reservation("a"), load)).isFirst).toBe(true);
    expect((await acquire(residency, "a", reservation("a"), load)).isFirst).toBe(false);
  });

  it("a load that is refused is so for its own caller; others who waited for it begin their own", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const refused = { ok: false, stage: "admission", error: "too many" } as const;
    const [first, second] = [
      residency.acquire("a", reservation("a"), async () => refused),
      acquire(residency, "a", reservation("a"), load),
    ];
    expect(await first).toBe(refused);
    expect((await second).isFirst).toBe(true);
    expect(made).toHaveLength(1);
  });

  it("a caller who cancels stops waiting; the others still get the model", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const controller = new AbortController();
    const slow = async (): Promise<Thing> => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return load();
    };
    const [impatient, patient] = [
      acquire(residency, "a", reservation("a"), slow, controller.signal),
      acquire(residency, "a", reservation("a"), slow),
    ];
    impatient.catch(() => {}); // expected below
    controller.abort();
    await expect(impatient).rejects.toMatchObject({ code: "ABORTED" });
    await vi.advanceTimersByTimeAsync(200);
    await expect(patient).resolves.toBeDefined();
    expect(made[0]?.disposed).toBe(false);
  });

  it("a load nobody waits for is cancelled, and what still comes of it is disposed", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const controller = new AbortController();
    let cancelled = false;
    const slow = async (signal: AbortSignal): Promise<Thing> => {
      signal.addEventListener("abort", () => (cancelled = true));
      await new Promise((resolve) => setTimeout(resolve, 100));
      return load();
    };
    const refused = acquire(residency, "a", reservation("a"), slow, controller.signal);
    refused.catch(() => {}); // expected below
    controller.abort();
    await expect(refused).rejects.toMatchObject({ code: "ABORTED" });
    expect(cancelled).toBe(true);
    await vi.advanceTimersByTimeAsync(200);
    expect(made[0]?.disposed).toBe(true);
    await expect(acquire(residency, "a", reservation("a"), slow, AbortSignal.abort())).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("after a cancelled load the next caller waits until that has ended: there are never two of one key", async () => {
    const { load } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    let [loading, max] = [0, 0];
    const stubborn = async (): Promise<Thing> => {
      loading += 1;
      max = Math.max(max, loading);
      await new Promise((resolve) => setTimeout(resolve, 1000)); // whatever the signal says
      loading -= 1;
      return load();
    };
    for (let client = 0; client < 12; client += 1) {
      const controller = new AbortController();
      const refused = acquire(residency, "a", reservation("a"), stubborn, controller.signal);
      refused.catch(() => {}); // expected below
      await vi.advanceTimersByTimeAsync(100);
      controller.abort();
      await expect(refused).rejects.toMatchObject({ code: "ABORTED" });
    }
    const patient = acquire(residency, "a", reservation("a"), stubborn);
    await vi.advanceTimersByTimeAsync(3000);
    expect((await patient).item.disposed).toBe(false);
    expect(max).toBe(1);
  });

  it("close cancels loads under way: who waits for one is told DISPOSED", async () => {
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const cancellable = (signal: AbortSignal): Promise<Thing> =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(abortError(signal))));
    const refused = acquire(residency, "a", reservation("a"), cancellable);
    refused.catch(() => {}); // expected below
    await vi.advanceTimersByTimeAsync(10);
    await residency.close();
    await expect(refused).rejects.toMatchObject({ code: "DISPOSED" });
  });

  it("close unloads everything, used or not, and refuses new users", async () => {
    const { load, made } = factory();
    const residency = new Residency<Thing>({ keepAliveMs: 1000 });
    const lease = await acquire(residency, "a", reservation("a"), load);
    (await acquire(residency, "b", reservation("b"), load)).release();
    await residency.close();
    expect(made.map(({ disposed }) => disposed)).toEqual([true, true]);
    lease.release();
    await expect(acquire(residency, "a", reservation("a"), load)).rejects.toMatchObject({ code: "DISPOSED" });
  });
});
