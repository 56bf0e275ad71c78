/**
 * Residency of models in memory. Concurrent loads of a model are merged, users are counted, and an unused model is unloaded
 * after a keep-alive time or when memory is needed.
 */
import type { LeaseKind, Reservation } from "../selection/reservation.ts";
import type { UnloadReason } from "../options/runtime-settings.ts";
import { InferyardError } from "../../contract/errors.ts";
import { unrefTimeout } from "../../platform/event-loop.ts";
import { MemoryAdmission, type MemoryConsumer } from "./memory-admission.ts";
import type { MemoryAmounts, MemoryLimits } from "../selection/memory-budget.ts";
import type { LoadOutcome } from "../loading/loading.ts";
import { maxTimerMs } from "../../concurrency/time-limit.ts";
import { abortable } from "../../concurrency/abortable.ts";
import { type Deferred, deferred } from "../../concurrency/deferred.ts";

/** An item that residency manages. */
export interface Resident {
  /** Frees the item. `waitMs`: maximum wait for calls that have a caller, in milliseconds. Default: no limit. */
  dispose(reason: UnloadReason, waitMs?: number): Promise<void>;
}

/** Books memory for a load. Without a budget every booking is granted. */
export interface MemoryBooking {
  /**
   * Waits until `need` fits into memory together with the other models. A second call replaces the first booking. `known`: `need` was measured, not estimated.
   * Throws MEMORY_BUDGET.
   */
  book(need: MemoryAmounts, known: boolean): Promise<void>;
  /** Books additional memory. Returns false if it does not fit now. */
  grow(extra: MemoryAmounts): boolean;
  /** Replaces the booking by the amount that the model really holds. */
  correct(amounts: MemoryAmounts): void;
}

/** Loads an item. The signal is aborted when no caller waits for it any more. */
export type Load<Item> = (signal: AbortSignal, booking: MemoryBooking) => Promise<LoadOutcome<Item>>;

/** A caller's lease on an item, which keeps the item in memory. A second release does nothing. */
export interface Lease<Item> {
  readonly item: Item;
  /** Whether the item was loaded for this lease, and was not in memory before. */
  readonly isFirst: boolean;
  /** Sets the keep-alive of the item, in milliseconds: see `ModelHandle.setKeepAlive`. */
  setKeepAlive(milliseconds: number): void;
  release(): void;
}

/** Options of residency. */
export interface ResidencyOptions {
  /** Milliseconds for which an unused item stays. 0: until it is unloaded or evicted, or residency is closed. */
  readonly keepAliveMs: number;
  /** The memory budget. Default: none. */
  readonly limits?: MemoryLimits;
  /** Maximum time that a load waits for memory, in milliseconds. Default: 30,000. */
  readonly waitMs?: number;
}

interface Entry<Item> extends MemoryConsumer {
  readonly key: string;
  readonly location: string;
  readonly load: Promise<LoadOutcome<Item>>;
  readonly controller: AbortController;
  readonly keepAliveExempt: boolean;
  /** Undefined while it is loading. */
  item: Item | undefined;
  readonly leases: Record<LeaseKind, number>;
  /** Sequence number of the last use; the lowest is the least recently used. */
  lastUse: number;
  idleTimer: NodeJS.Timeout | undefined;
  /** How long it stays once it is unused, in milliseconds; Infinity: until it is unloaded or evicted. */
  keepAliveMs: number;
  /** When it became unused, by `Date.now()`. Undefined while it is loading or in use. */
  idleSince: number | undefined;
  /** Set while the entry accepts no new lease; resolves when it does again, or is gone. */
  draining: Deferred<void> | undefined;
  unloading: Promise<void> | undefined;
  /** Called when the last lease is released. */
  readonly whenIdle: (() => void)[];
}

const defaultWaitMs = 30_000;

/** The items that are in memory, by key: loads each once, counts its users, and removes idle ones. */
export class Residency<Item extends Resident> {
  readonly #entries = new Map<string, Entry<Item>>();
  /** Keep-alive of items for which nobody has set another. Infinity: none. */
  readonly #keepAliveMs: number;
  readonly #admission: MemoryAdmission<Entry<Item>> | undefined;
  #uses = 0;
  #closed = false;

  constructor({ keepAliveMs, limits, waitMs = defaultWaitMs }: ResidencyOptions) {
    this.#keepAliveMs = keepAliveMs === 0 ? Number.POSITIVE_INFINITY : keepAliveMs;
    if (limits === undefined) return;
    this.#admission = new MemoryAdmission<Entry<Item>>(limits, Math.min(waitMs, maxTimerMs), {
      evictable: () => this.#byLastUse((entry) => isIdle(entry) && !entry.pinned),
      evictableSoon: () =>
        this.#byLastUse(({ item, leases, pinned }) => item !== undefined && leases.handle === 0 && leases.work > 0 && !pinned),
      drain: (entry) => startDraining(entry),
      evict: (entry, evictedFor) => this.#unload(entry, { why: "evicted", evictedFor }),
      getState,
    });
  }

  /**
   * Returns a lease on the item with this key. The first caller loads it; callers that arrive meanwhile wait for the same load,
   * and begin their own if it is refused. A caller that aborts stops waiting, and the load is aborted when the last caller has
   * left. While the item is being unloaded or drained, the call waits and then loads it again. Throws what `load` throws,
   * ABORTED, and DISPOSED after `close`.
   */
  async acquire(
    key: string,
    reservation: Reservation,
    load: Load<Item>,
    signal?: AbortSignal,
  ): Promise<LoadOutcome<Lease<Item>>> {
    const { leaseKind = "handle" } = reservation;
    for (;;) {
      if (this.#closed) throw disposed();
      const known = this.#entries.get(key);
      if (known?.draining !== undefined) {
        await abortable(known.draining.promise, signal);
        continue;
      }
      const entry = known ?? this.#begin(key, reservation, load);
      const outcome = await this.#awaitLoad(entry, leaseKind, signal);
      if (outcome.ok) return { ok: true, item: this.#getLease(entry, outcome.item, leaseKind, known === undefined) };
      if (outcome.stage !== "admission" || known === undefined) return outcome;
    }
  }

  /** Waits for the load of an entry as one of its users; a user whose item was not loaded is not counted any more. */
  async #awaitLoad(entry: Entry<Item>, kind: LeaseKind, signal: AbortSignal | undefined): Promise<LoadOutcome<Item>> {
    this.#use(entry, kind);
    try {
      const outcome = await abortable(entry.load, signal);
      if (!outcome.ok) entry.leases[kind] -= 1;
      if (outcome.ok || !this.#closed) return outcome;
    } catch (error) {
      if (entry.item !== undefined) {
        this.#release(entry, kind);
      } else {
        entry.leases[kind] -= 1;
        if (getUsers(entry) === 0) this.#cancelLoad(entry);
      }
      if (!this.#closed || signal?.aborted === true) throw error;
    }
    throw disposed();
  }

  /** Whether the item is loaded and accepts new leases. */
  has(key: string): boolean {
    const entry = this.#entries.get(key);
    return entry?.item !== undefined && entry.draining === undefined;
  }

  /**
   * Returns a lease if the item is loaded and accepts new leases; otherwise undefined. Never waits. `leaseKind`: see
   * `Reservation`.
   */
  acquireLoaded(key: string, leaseKind: LeaseKind = "work"): Lease<Item> | undefined {
    const entry = this.#entries.get(key);
    if (entry?.item === undefined || entry.draining !== undefined || this.#closed) return undefined;
    this.#use(entry, leaseKind);
    return this.#getLease(entry, entry.item, leaseKind, false);
  }

  /** All items, after current loads have ended. Failed loads are left out. */
  async items(): Promise<Item[]> {
    const settled = await Promise.allSettled([...this.#entries.values()].map(({ load }) => load));
    return settled.flatMap((result) => (result.status === "fulfilled" && result.value.ok ? [result.value.item] : []));
  }

  /** The loaded items, a description of their users, and when their keep-alive ends, for reports: see `ModelMemory`. */
  entries(): {
    readonly reference: string;
    readonly state: string;
    readonly expiresAt: number | null;
    readonly item: Item;
  }[] {
    return [...this.#entries.values()].flatMap((entry) =>
      entry.item === undefined
        ? []
        : [{ reference: entry.reference, state: getState(entry), expiresAt: getExpiry(entry), item: entry.item }],
    );
  }

  /** Unloads all unused items that are not pinned, at once. */
  async clear(): Promise<void> {
    const idle = [...this.#entries.values()].filter((entry) => isIdle(entry) && !entry.pinned);
    await Promise.all(idle.map((entry) => this.#unload(entry, { why: "unloaded" })));
  }

  /**
   * Unloads the items of one location, pinned or not, as soon as their leases are released; no new lease is granted meanwhile.
   * Returns their number. If the signal is aborted, items that are still in use stay.
   */
  async unload(location: string, signal?: AbortSignal): Promise<number> {
    const entries = [...this.#entries.values()].filter((entry) => entry.location === location);
    await Promise.all(entries.map((entry) => this.#unloadWhenIdle(entry, signal)));
    return entries.length;
  }

  /** Unloads all items, used or not, aborts loads, and refuses new leases. `waitMs`: see `Resident.dispose`. */
  async close(waitMs?: number): Promise<void> {
    this.#closed = true;
    this.#admission?.close();
    const unload = async (entry: Entry<Item>): Promise<void> => {
      if (entry.item === undefined) entry.controller.abort();
      await this.#unload(entry, { why: "disposed" }, waitMs);
    };
    await Promise.all([...this.#entries.values()].map(unload));
  }

  #begin(
    key: string,
    { reference, location, pinned = false, keepAliveExempt = false }: Reservation,
    load: Load<Item>,
  ): Entry<Item> {
    const controller = new AbortController();
    // The entry needs the promise of the load, and the load needs the entry to book memory: the load starts in a microtask,
    // after the entry exists.
    const start = async (): Promise<LoadOutcome<Item>> => load(controller.signal, this.#bookingFor(entry));
    const begun = Promise.resolve().then(start);
    const entry: Entry<Item> = {
      key,
      reference,
      location,
      pinned,
      keepAliveExempt: keepAliveExempt || pinned,
      load: begun,
      controller,
      item: undefined,
      leases: { handle: 0, work: 0 },
      lastUse: 0,
      idleTimer: undefined,
      keepAliveMs: this.#keepAliveMs,
      idleSince: undefined,
      draining: undefined,
      unloading: undefined,
      whenIdle: [],
    };
    this.#entries.set(key, entry);
    const forget = (): void => this.#forget(entry); // the next caller tries again
    begun.then((outcome) => (outcome.ok ? (entry.item = outcome.item) : forget()), forget);
    return entry;
  }

  #bookingFor(entry: Entry<Item>): MemoryBooking {
    const admission = this.#admission;
    return {
      book: async (need, known) => admission?.reserve(entry, need, known, entry.controller.signal),
      grow: (extra) => admission?.grow(entry, extra) ?? true,
      correct: (amounts) => admission?.update(entry, amounts),
    };
  }

  #getLease(entry: Entry<Item>, item: Item, kind: LeaseKind, isFirst: boolean): Lease<Item> {
    return {
      item,
      isFirst,
      setKeepAlive: (milliseconds) => void (entry.keepAliveMs = milliseconds),
      release: once(() => this.#release(entry, kind)),
    };
  }

  #use(entry: Entry<Item>, kind: LeaseKind): void {
    clearTimeout(entry.idleTimer);
    entry.idleSince = undefined;
    entry.leases[kind] += 1;
    this.#touch(entry);
  }

  #release(entry: Entry<Item>, kind: LeaseKind): void {
    entry.leases[kind] -= 1;
    if (getUsers(entry) > 0 || this.#entries.get(entry.key) !== entry) return;
    this.#touch(entry);
    for (const notify of entry.whenIdle.splice(0)) notify();
    if (entry.unloading !== undefined) return;
    entry.idleSince = Date.now();
    if (!entry.keepAliveExempt && Number.isFinite(entry.keepAliveMs)) {
      const unload = (): void => void this.#unload(entry, { why: "idle" });
      if (entry.keepAliveMs === 0) unload();
      else entry.idleTimer = unrefTimeout(unload, Math.min(entry.keepAliveMs, maxTimerMs));
    }
    this.#admission?.admitNext();
  }

  /** Aborts a load for which no caller waits. The next caller waits until it has ended and its memory is free. */
  #cancelLoad(entry: Entry<Item>): void {
    entry.controller.abort();
    this.#unload(entry, { why: "unloaded" }).catch(() => {}); // the callers have received the error
  }

  async #unloadWhenIdle(entry: Entry<Item>, signal: AbortSignal | undefined): Promise<void> {
    const endDraining = startDraining(entry);
    try {
      if (!isIdle(entry)) await abortable(new Promise<void>((resolve) => entry.whenIdle.push(resolve)), signal);
      await this.#unload(entry, { why: "unloaded" });
    } finally {
      endDraining();
    }
  }

  /** Idempotent: a second call returns the first one's promise. */
  #unload(entry: Entry<Item>, reason: UnloadReason, waitMs?: number): Promise<void> {
    clearTimeout(entry.idleTimer);
    entry.unloading ??= this.#unloadNow(entry, reason, waitMs);
    return entry.unloading;
  }

  async #unloadNow(entry: Entry<Item>, reason: UnloadReason, waitMs?: number): Promise<void> {
    startDraining(entry); // new callers wait until its memory is free
    try {
      const [settled] = await Promise.allSettled([entry.load]);
      if (settled.status === "fulfilled" && settled.value.ok) await settled.value.item.dispose(reason, waitMs);
    } finally {
      this.#forget(entry);
    }
  }

  #forget(entry: Entry<Item>): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
    for (const notify of entry.whenIdle.splice(0)) notify();
    entry.draining?.resolve();
    entry.draining = undefined;
    this.#admission?.release(entry);
  }

  #byLastUse(accepts: (entry: Entry<Item>) => boolean): Entry<Item>[] {
    return [...this.#entries.values()].filter(accepts).toSorted((a, b) => a.lastUse - b.lastUse);
  }

  #touch(entry: Entry<Item>): void {
    this.#uses += 1;
    entry.lastUse = this.#uses;
  }
}

function getUsers({ leases }: Pick<Entry<unknown>, "leases">): number {
  return leases.handle + leases.work;
}

/** When the keep-alive of the entry ends, by `Date.now()`, counted from now while it is in use; null: never. */
function getExpiry({ keepAliveExempt, keepAliveMs, idleSince }: Entry<unknown>): number | null {
  if (keepAliveExempt || !Number.isFinite(keepAliveMs)) return null;
  return (idleSince ?? Date.now()) + keepAliveMs;
}

function isIdle(entry: Entry<unknown>): boolean {
  return entry.item !== undefined && getUsers(entry) === 0 && entry.unloading === undefined;
}

function getState(entry: Entry<unknown>): string {
  if (entry.item === undefined) return "loading";
  if (entry.unloading !== undefined) return "leaving";
  const users = getUsers(entry);
  const use = users === 0 ? "idle" : `in use (${users} ${users === 1 ? "user" : "users"})`;
  return entry.pinned ? `pinned, ${use}` : use;
}

/**
 * Starts draining: no new lease is granted. The returned function ends the draining, if this call started it and the entry is
 * not being unloaded.
 */
function startDraining(entry: Entry<unknown>): () => void {
  if (entry.draining !== undefined) return () => {};
  const draining = deferred<void>();
  entry.draining = draining;
  return () => {
    if (entry.draining !== draining || entry.unloading !== undefined) return;
    entry.draining = undefined;
    draining.resolve();
  };
}

function disposed(): InferyardError {
  return new InferyardError("DISPOSED", "this runtime was disposed");
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}
