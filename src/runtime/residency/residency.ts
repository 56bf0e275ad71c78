/** Which models are in memory: loads happen once, users are counted, and what nobody uses leaves after a while, or when room is needed. */
import { InferyardError } from "../../errors.ts";
import { unrefTimeout } from "../../platform/event-loop.ts";
import { MemoryAdmission, type MemoryConsumer } from "./memory-admission.ts";
import type { MemoryAmounts, MemoryLimits } from "./memory-budget.ts";
import { maxTimerMs } from "../../concurrency/time-limit.ts";
import { abortable } from "../../concurrency/abortable.ts";

/** Why a model left. */
export type UnloadReason =
  | { readonly why: "idle" | "unloaded" | "disposed" }
  | { readonly why: "evicted"; /** The reference of the model that needs the room. */ readonly toMakeRoomFor: string };

/** A thing that is kept while somebody uses it. */
export interface Resident {
  /** `waitMs`: longest wait for work that somebody waits for. Default: as long as it takes. */
  dispose(departure: UnloadReason, waitMs?: number): Promise<void>;
}

/** Who asks, and for how long the model stays. */
export interface Reservation {
  /** As the user wrote it. */
  readonly reference: string;
  /** What all spellings of the same model share. */
  readonly location: string;
  /** "handle": until somebody gives it back, perhaps never. "work": for one piece of work that ends by itself. Default: "handle". */
  readonly leaseKind?: "handle" | "work";
  /** Never unloaded, neither for time nor for room. */
  readonly pinned?: boolean;
  /** Not unloaded for time. */
  readonly keepAliveExempt?: boolean;
}

/** What a load does about memory. Where nothing is limited all of it is granted. */
export interface MemoryBooking {
  /**
   * Waits until this fits beside the others; a second call takes the place of the first. `known`: it was seen, not estimated. Throws
   * MEMORY_BUDGET.
   */
  book(need: MemoryAmounts, known: boolean): Promise<void>;
  /** Books more, if it fits at once. */
  grow(extra: MemoryAmounts): boolean;
  /** What the model really holds. */
  correct(amounts: MemoryAmounts): void;
}

export type Load<Item> = (signal: AbortSignal, room: MemoryBooking) => Promise<Item>;

/** One user's hold on a resident. Releasing twice does nothing. */
export interface Lease<Item> {
  readonly item: Item;
  release(): void;
}

export interface ResidencyOptions {
  /** How long something unused stays; 0 = until it is unloaded, evicted or all is closed. */
  readonly keepAliveMs: number;
  /** Default: none. */
  readonly limits?: MemoryLimits;
  /** How long a load waits for room. Default: 30 s. */
  readonly waitMs?: number;
}

interface Entry<Item> extends MemoryConsumer {
  readonly key: string;
  readonly location: string;
  readonly load: Promise<Item>;
  readonly controller: AbortController;
  readonly keepAliveExempt: boolean;
  /** Set when it is loaded. */
  item: Item | undefined;
  handles: number;
  works: number;
  /** Position in the order of use; the lowest was used longest ago. */
  lastUse: number;
  idleTimer: NodeJS.Timeout | undefined;
  /** Set while nobody new may use it; resolves when the door opens, or the entry has left. */
  draining: Draining | undefined;
  unloading: Promise<void> | undefined;
  /** Told when the last user has gone. */
  readonly whenIdle: (() => void)[];
}

interface Draining {
  readonly ended: Promise<void>;
  readonly end: () => void;
}

const defaultWaitMs = 30_000;

export class Residency<Item extends Resident> {
  readonly #entries = new Map<string, Entry<Item>>();
  readonly #keepAliveMs: number;
  readonly #admission: MemoryAdmission<Entry<Item>> | undefined;
  #uses = 0;
  #closed = false;

  constructor({ keepAliveMs, limits, waitMs = defaultWaitMs }: ResidencyOptions) {
    this.#keepAliveMs = Math.min(keepAliveMs, maxTimerMs);
    if (limits === undefined) return;
    this.#admission = new MemoryAdmission<Entry<Item>>(limits, Math.min(waitMs, maxTimerMs), {
      evictable: () => this.#byLastUse((entry) => isIdle(entry) && !entry.pinned),
      evictableSoon: () =>
        this.#byLastUse((entry) => entry.item !== undefined && entry.handles === 0 && entry.works > 0 && !entry.pinned),
      drain: (entry) => startDraining(entry),
      evict: (entry, toMakeRoomFor) => this.#unload(entry, { why: "evicted", toMakeRoomFor }),
      stateOf,
    });
  }

  /**
   * A lease on the item with this key. The first to ask loads it; those who ask meanwhile wait for the same load. A caller who
   * cancels stops waiting; the load itself is cancelled when the last one who waits has gone. Who asks for one that is about to leave
   * waits until it has left, and loads it anew.
   */
  async acquire(key: string, stay: Reservation, load: Load<Item>, signal?: AbortSignal): Promise<Lease<Item>> {
    for (;;) {
      if (this.#closed) throw disposed();
      const door = this.#entries.get(key)?.draining;
      if (door === undefined) break;
      await abortable(door.ended, signal);
    }
    const entry = this.#entries.get(key) ?? this.#begin(key, stay, load);
    const kind = stay.leaseKind === "work" ? "works" : "handles";
    clearTimeout(entry.idleTimer);
    entry[kind] += 1;
    this.#touch(entry);
    try {
      const item = await abortable(entry.load, signal);
      return { item, release: once(() => this.#release(entry, kind)) };
    } catch (error) {
      if (entry.item !== undefined) {
        this.#release(entry, kind);
      } else {
        entry[kind] -= 1;
        if (usersOf(entry) === 0) this.#cancelLoad(entry);
      }
      if (this.#closed && signal?.aborted !== true) throw disposed();
      throw error;
    }
  }

  /** Whether the item with this key is there for whoever comes. */
  has(key: string): boolean {
    const entry = this.#entries.get(key);
    return entry?.item !== undefined && entry.draining === undefined;
  }

  /** A lease on the item with this key, where it is loaded and may be used; else undefined. `hold`: see `Stay`. */
  acquireLoaded(key: string, hold: "handle" | "work" = "work"): Lease<Item> | undefined {
    const entry = this.#entries.get(key);
    if (entry?.item === undefined || entry.draining !== undefined || this.#closed) return undefined;
    const kind = hold === "work" ? "works" : "handles";
    clearTimeout(entry.idleTimer);
    entry[kind] += 1;
    this.#touch(entry);
    return { item: entry.item, release: once(() => this.#release(entry, kind)) };
  }

  /** The items that are loaded now, and those about to be. */
  async items(): Promise<Item[]> {
    const settled = await Promise.allSettled([...this.#entries.values()].map(({ load }) => load));
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** What is in memory now, and who uses it. */
  entries(): { readonly reference: string; readonly state: string; readonly item: Item }[] {
    return [...this.#entries.values()].flatMap((entry) =>
      entry.item === undefined ? [] : [{ reference: entry.reference, state: stateOf(entry), item: entry.item }],
    );
  }

  /** Unloads what nobody uses, at once; pinned ones stay. */
  async clear(): Promise<void> {
    const idle = [...this.#entries.values()].filter((entry) => isIdle(entry) && !entry.pinned);
    await Promise.all(idle.map((entry) => this.#unload(entry, { why: "unloaded" })));
  }

  /**
   * Unloads the models of one place as soon as nobody uses them: nobody new may come meanwhile. Says how many there were. Cancelled by
   * the signal, those that are still in use stay.
   */
  async unload(place: string, signal?: AbortSignal): Promise<number> {
    const entries = [...this.#entries.values()].filter((entry) => entry.location === place);
    await Promise.all(entries.map((entry) => this.#unloadWhenIdle(entry, signal)));
    return entries.length;
  }

  /** Unloads everything, used or not, and refuses new users; loads are cancelled. `waitMs`: see `Resident.dispose`. */
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
    // `load` gets its room from the entry, and the entry its promise from `load`: the room is asked for after this turn.
    const start = async (): Promise<Item> => load(controller.signal, this.#bookingFor(entry));
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
      handles: 0,
      works: 0,
      lastUse: 0,
      idleTimer: undefined,
      draining: undefined,
      unloading: undefined,
      whenIdle: [],
    };
    this.#entries.set(key, entry);
    begun.then(
      (item) => (entry.item = item),
      () => this.#forget(entry), // a failed load is tried anew by the next caller
    );
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

  #release(entry: Entry<Item>, kind: "handles" | "works"): void {
    entry[kind] -= 1;
    if (usersOf(entry) > 0 || this.#entries.get(entry.key) !== entry) return;
    this.#touch(entry);
    for (const tell of entry.whenIdle.splice(0)) tell();
    if (entry.unloading !== undefined) return;
    if (this.#keepAliveMs > 0 && !entry.keepAliveExempt) {
      entry.idleTimer = unrefTimeout(() => void this.#unload(entry, { why: "idle" }), this.#keepAliveMs);
    }
    this.#admission?.admitNext();
  }

  /** Nobody waits for this load any more. It is cancelled, and the next caller waits until it has ended and its memory is free. */
  #cancelLoad(entry: Entry<Item>): void {
    entry.controller.abort();
    this.#unload(entry, { why: "unloaded" }).catch(() => {}); // the callers have had the error
  }

  async #unloadWhenIdle(entry: Entry<Item>, signal: AbortSignal | undefined): Promise<void> {
    const reopen = startDraining(entry);
    try {
      if (!isIdle(entry)) await abortable(new Promise<void>((resolve) => entry.whenIdle.push(resolve)), signal);
      await this.#unload(entry, { why: "unloaded" });
    } finally {
      reopen();
    }
  }

  /** A second call waits for the first. */
  #unload(entry: Entry<Item>, departure: UnloadReason, waitMs?: number): Promise<void> {
    clearTimeout(entry.idleTimer);
    entry.unloading ??= this.#unloadNow(entry, departure, waitMs);
    return entry.unloading;
  }

  async #unloadNow(entry: Entry<Item>, departure: UnloadReason, waitMs?: number): Promise<void> {
    startDraining(entry); // whoever wants it now waits until its memory is free
    try {
      const [settled] = await Promise.allSettled([entry.load]);
      if (settled.status === "fulfilled") await settled.value.dispose(departure, waitMs);
    } finally {
      this.#forget(entry);
    }
  }

  #forget(entry: Entry<Item>): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
    for (const tell of entry.whenIdle.splice(0)) tell();
    entry.draining?.end();
    entry.draining = undefined;
    this.#admission?.release(entry);
  }

  #byLastUse(suits: (entry: Entry<Item>) => boolean): Entry<Item>[] {
    return [...this.#entries.values()].filter(suits).toSorted((a, b) => a.lastUse - b.lastUse);
  }

  #touch(entry: Entry<Item>): void {
    this.#uses += 1;
    entry.lastUse = this.#uses;
  }
}

function usersOf({ handles, works }: { readonly handles: number; readonly works: number }): number {
  return handles + works;
}

function isIdle(entry: Entry<unknown>): boolean {
  return entry.item !== undefined && usersOf(entry) === 0 && entry.unloading === undefined;
}

function stateOf(entry: Entry<unknown>): string {
  if (entry.item === undefined) return "loading";
  if (entry.unloading !== undefined) return "leaving";
  const users = usersOf(entry);
  const use = users === 0 ? "idle" : `in use (${users} ${users === 1 ? "user" : "users"})`;
  return entry.pinned ? `pinned, ${use}` : use;
}

/** Closes the door, unless it is closed already; the result opens it again if it was this call that closed it. */
function startDraining(entry: Entry<unknown>): () => void {
  if (entry.draining !== undefined) return () => {};
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const door: Draining = { ended, end };
  entry.draining = door;
  return () => {
    if (entry.draining !== door || entry.unloading !== undefined) return;
    entry.draining = undefined;
    door.end();
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
