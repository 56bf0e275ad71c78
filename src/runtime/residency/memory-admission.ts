/**
 * Who may load next. Loads that do not fit wait in line, first come first served, while models that nobody uses leave, the least
 * recently used first. Memory is booked before a load begins, so that loads in flight count.
 */
import { InferyardError, abortError } from "../../errors.ts";
import {
  type MemoryAmounts,
  type MemoryLimits,
  initialBooking,
  machineMemory,
  addAmounts,
  findShortage,
} from "./memory-budget.ts";

/** Measured sizes may exceed the limit by this factor before models leave for it. */
const toleratedExcess = 1.1;

/** A model that holds memory, or wants to. */
export interface MemoryConsumer {
  /** As the user wrote it. */
  readonly reference: string;
  readonly pinned: boolean;
}

/** Whoever keeps the models. */
export interface MemoryManager<Item extends MemoryConsumer> {
  /** Those that nobody uses and that may leave, least recently used first. */
  evictable(): readonly Item[];
  /** Those whose users are all there for one piece of work, least recently used first: they will be idle if nobody new comes. */
  evictableSoon(): readonly Item[];
  /** Lets nobody new use it, until the result is called or it has left. */
  drain(item: Item): () => void;
  /** Resolves when its memory is free and `leave` was called. */
  evict(item: Item, toMakeRoomFor: string): Promise<void>;
  /** For the error's table: "in use (2 users)", "pinned", "loading". */
  stateOf(item: Item): string;
}

interface QueuedLoad<Item> {
  readonly consumer: Item;
  readonly need: MemoryAmounts;
  readonly grant: () => void;
  readonly refuse: (error: InferyardError) => void;
  endDraining?: () => void;
}

export class MemoryAdmission<Item extends MemoryConsumer> {
  readonly #limits: MemoryLimits;
  readonly #waitMs: number;
  readonly #manager: MemoryManager<Item>;
  readonly #bookings = new Map<Item, MemoryAmounts>();
  readonly #queue: QueuedLoad<Item>[] = [];
  #evicting = false;

  /** `waitMs`: how long a load waits for others to leave before it is refused. */
  constructor(limits: MemoryLimits, waitMs: number, landlord: MemoryManager<Item>) {
    this.#limits = limits;
    this.#waitMs = waitMs;
    this.#manager = landlord;
  }

  /**
   * Waits until `estimated` fits and books it, in place of what the tenant had booked. What was only estimated is booked with a margin,
   * what is `known` as it is. Throws MEMORY_BUDGET, or ABORTED.
   */
  async reserve(consumer: Item, estimated: MemoryAmounts, known: boolean, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw abortError(signal);
    const staying = [...this.#bookings].filter(([other]) => other !== consumer && other.pinned).map(([, amounts]) => amounts);
    if (staying.length >= this.#limits.models || findShortage(this.#limits, staying, estimated) !== undefined) {
      throw this.#budgetError(consumer, estimated); // whoever else leaves, it will not fit
    }
    const need = known ? estimated : initialBooking(estimated, this.#limits, staying);
    let settle: (() => void) | undefined;
    await new Promise<void>((resolve, reject) => {
      const waiting: QueuedLoad<Item> = { consumer, need, grant: resolve, refuse: reject };
      const timer = setTimeout(() => this.#reject(waiting, this.#budgetError(consumer, need)), this.#waitMs);
      const abort = (): void => this.#reject(waiting, abortError(signal));
      signal.addEventListener("abort", abort, { once: true });
      settle = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        waiting.endDraining?.();
      };
      this.#queue.push(waiting);
      this.admitNext();
    }).finally(() => settle?.());
  }

  /** Books more if it fits at once; nobody leaves for it. */
  grow(tenant: Item, extra: MemoryAmounts): boolean {
    const booked = this.#bookings.get(tenant);
    if (booked === undefined || this.#queue.length > 0) return false;
    if (findShortage(this.#limits, this.#heldByOthers(tenant), addAmounts(booked, extra)) !== undefined) return false;
    this.#bookings.set(tenant, addAmounts(booked, extra));
    return true;
  }

  /** What the tenant really holds. When that is more than fits, models that nobody uses leave. */
  update(tenant: Item, amounts: MemoryAmounts): void {
    if (!this.#bookings.has(tenant)) return;
    this.#bookings.set(tenant, amounts);
    this.admitNext();
  }

  /** The tenant's memory is free. */
  release(tenant: Item): void {
    if (this.#bookings.delete(tenant)) this.admitNext();
  }

  /** Refuses everyone in line. */
  close(): void {
    for (const waiting of this.#queue.slice()) this.#reject(waiting, new InferyardError("DISPOSED", "this runtime was disposed"));
  }

  /** Looks whether the first in line fits now, and makes room if it does not. To be called when a model becomes idle. */
  admitNext(): void {
    while (!this.#evicting) {
      const first = this.#queue[0];
      if (first !== undefined && this.#fits(first)) {
        this.#queue.shift();
        this.#bookings.set(first.consumer, first.need);
        first.grant();
      } else if (first !== undefined || this.#isOver()) {
        const victim = this.#manager.evictable().find((tenant) => this.#wouldFreeMemory(tenant, first));
        if (victim !== undefined) return void this.#evict(victim, first?.consumer.reference ?? "the budget");
        if (first !== undefined) this.#drainOne(first);
        return;
      } else {
        return;
      }
    }
  }

  async #evict(victim: Item, toMakeRoomFor: string): Promise<void> {
    this.#evicting = true; // one after the other: the next may not be needed
    await this.#manager.evict(victim, toMakeRoomFor).catch(() => {}); // a model that cannot be freed is gone all the same
    this.#evicting = false;
    this.release(victim);
    this.admitNext();
  }

  /** Without it, a stream of requests for loaded models could keep the first in line waiting for ever. */
  #drainOne(first: QueuedLoad<Item>): void {
    if (first.endDraining !== undefined) return;
    const soon = this.#manager.evictableSoon().find((tenant) => this.#wouldFreeMemory(tenant, first));
    if (soon !== undefined) first.endDraining = this.#manager.drain(soon);
  }

  #fits({ consumer, need }: QueuedLoad<Item>): boolean {
    const others = this.#heldByOthers(consumer);
    return others.length < this.#limits.models && findShortage(this.#limits, others, need) === undefined;
  }

  /** Models that turned out a little larger than estimated stay: loading them again would not make them smaller. */
  #isOver(): boolean {
    const limit = this.#limits.bytes[machineMemory] ?? Number.POSITIVE_INFINITY;
    const held = [...this.#bookings.values()].reduce((sum, amounts) => sum + (amounts[machineMemory] ?? 0), 0);
    return held > limit * toleratedExcess;
  }

  /** Whether the place that is short would have more left without this tenant. */
  #wouldFreeMemory(tenant: Item, first: QueuedLoad<Item> | undefined): boolean {
    const amounts = this.#bookings.get(tenant);
    if (amounts === undefined || tenant === first?.consumer) return false;
    const others = first === undefined ? [] : this.#heldByOthers(first.consumer);
    if (others.length >= this.#limits.models) return true;
    const place = first === undefined ? machineMemory : findShortage(this.#limits, others, first.need)?.pool;
    return place !== undefined && (amounts[place] ?? 0) > 0;
  }

  #heldByOthers(tenant: Item): MemoryAmounts[] {
    return [...this.#bookings].filter(([other]) => other !== tenant).map(([, amounts]) => amounts);
  }

  #reject(waiting: QueuedLoad<Item>, error: InferyardError): void {
    const place = this.#queue.indexOf(waiting);
    if (place === -1) return;
    this.#queue.splice(place, 1);
    waiting.refuse(error);
    this.admitNext();
  }

  #budgetError(tenant: Item, need: MemoryAmounts): InferyardError {
    const others = this.#heldByOthers(tenant);
    const shortage = findShortage(this.#limits, others, need);
    const headline =
      shortage === undefined
        ? `${tenant.reference} cannot be loaded: ${others.length} of at most ${this.#limits.models} models are in memory, and none can leave`
        : `${tenant.reference} needs about ${megabytes(shortage.need)}${placeName(shortage.pool)}, and the budget of ${megabytes(shortage.limit)} has ${megabytes(shortage.left)} left`;
    const place = shortage?.pool ?? machineMemory;
    const holders = [...this.#bookings]
      .filter(([other]) => other !== tenant)
      .map(([other, amounts]) => ({
        reference: other.reference,
        bytes: amounts[place] ?? 0,
        state: this.#manager.stateOf(other),
      }));
    const lines = holders.map(({ reference, bytes, state }) => `  ${reference}   ${megabytes(bytes)}   ${state}`);
    return new InferyardError("MEMORY_BUDGET", [headline, ...lines].join("\n"), {
      remedy:
        shortage === undefined
          ? "dispose a handle, or raise maxLoadedModels"
          : "dispose a handle, raise maxMemory (maxDeviceMemory for a device), or choose a smaller variant",
      data: {
        reference: tenant.reference,
        need,
        limits: { bytes: this.#limits.bytes, models: finite(this.#limits.models) },
        holders,
      },
    });
  }
}

function placeName(place: string): string {
  return place === machineMemory ? "" : ` on ${place}`;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}

/** Infinity does not survive JSON. */
function finite(count: number): number | null {
  return Number.isFinite(count) ? count : null;
}
