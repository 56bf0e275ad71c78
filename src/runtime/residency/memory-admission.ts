/**
 * Admission of loads under a memory budget. Loads that do not fit wait in a first-in, first-out queue while unused models are
 * evicted, the least recently used first. Memory is booked before a load begins, so that loads in progress count.
 */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { deferred } from "../../concurrency/deferred.ts";
import { InferyardError, abortError } from "../../contract/errors.ts";
import {
  type MemoryAmounts,
  type MemoryLimits,
  initialBooking,
  machineMemory,
  addAmounts,
  findShortage,
  formatMegabytes,
} from "../selection/memory-budget.ts";

/** Factor by which measured memory may exceed the limit before models are evicted for it. */
const toleratedExcess = 1.1;

/** A model that holds memory or waits for it. */
export interface MemoryConsumer {
  /** The reference as the user wrote it, for messages. */
  readonly reference: string;
  readonly pinned: boolean;
}

/** Interface of the component that owns the models, as admission needs it. */
export interface MemoryManager<Item extends MemoryConsumer> {
  /** Unused models that may be evicted, least recently used first. */
  evictable(): readonly Item[];
  /**
   * Models whose leases are all for one piece of work, least recently used first. They become evictable if no new lease is
   * granted.
   */
  evictableSoon(): readonly Item[];
  /** Grants no new lease on the model until the returned function is called or the model is unloaded. */
  drain(item: Item): () => void;
  /** Unloads the model. Resolves when its memory is free. */
  evict(item: Item, evictedFor: string): Promise<void>;
  /** State of the model for the error message: "in use (2 users)", "pinned", "loading". */
  getState(item: Item): string;
}

interface QueuedLoad<Item> {
  readonly consumer: Item;
  readonly need: MemoryAmounts;
  readonly grant: () => void;
  readonly refuse: (error: InferyardError) => void;
  endDraining?: () => void;
  /** Set once it has waited for the maximum time, while a model was being evicted. */
  hasExpired?: true;
}

/** Books the memory of models and queues loads that do not fit. */
export class MemoryAdmission<Item extends MemoryConsumer> {
  readonly #limits: MemoryLimits;
  readonly #waitMs: number;
  readonly #manager: MemoryManager<Item>;
  readonly #bookings = new Map<Item, MemoryAmounts>();
  readonly #queue: QueuedLoad<Item>[] = [];
  #evicting = false;

  /** `waitMs`: maximum time in milliseconds that a load waits in the queue. `manager`: owner of the models. */
  constructor(limits: MemoryLimits, waitMs: number, manager: MemoryManager<Item>) {
    this.#limits = limits;
    this.#waitMs = waitMs;
    this.#manager = manager;
  }

  /**
   * Waits until `estimated` fits and books it, in place of an earlier booking of the same consumer. An estimate is booked with
   * a margin, a `known` amount without one. Throws MEMORY_BUDGET after `waitMs`, once no model is being evicted any more, or at once if the pinned models leave too
   * little memory; ABORTED.
   */
  async reserve(consumer: Item, estimated: MemoryAmounts, known: boolean, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw abortError(signal);
    const staying = [...this.#bookings].filter(([other]) => other !== consumer && other.pinned).map(([, amounts]) => amounts);
    if (staying.length >= this.#limits.models || findShortage(this.#limits, staying, estimated) !== undefined) {
      throw this.#budgetError(consumer, estimated); // no eviction can make it fit
    }
    const need = known ? estimated : initialBooking(estimated, this.#limits, staying);
    const admitted = deferred<void>();
    const waiting: QueuedLoad<Item> = { consumer, need, grant: admitted.resolve, refuse: admitted.reject };
    const timer = setTimeout(() => this.#expire(waiting), this.#waitMs);
    const abort = (): void => this.#reject(waiting, abortError(signal));
    addAbortListener(signal, abort);
    this.#queue.push(waiting);
    this.admitNext();
    try {
      await admitted.promise;
    } finally {
      clearTimeout(timer);
      removeAbortListener(signal, abort);
      waiting.endDraining?.();
    }
  }

  /** Books additional memory if it fits now. Evicts nothing. Returns whether it was booked. */
  grow(consumer: Item, extra: MemoryAmounts): boolean {
    const booked = this.#bookings.get(consumer);
    if (booked === undefined || this.#queue.length > 0) return false;
    if (findShortage(this.#limits, this.#heldByOthers(consumer), addAmounts(booked, extra)) !== undefined) return false;
    this.#bookings.set(consumer, addAmounts(booked, extra));
    return true;
  }

  /** Replaces a booking by the amount that the consumer really holds. If the budget is exceeded, unused models are evicted. */
  update(consumer: Item, amounts: MemoryAmounts): void {
    if (!this.#bookings.has(consumer)) return;
    this.#bookings.set(consumer, amounts);
    this.admitNext();
  }

  /** Removes a booking: the consumer's memory is free. */
  release(consumer: Item): void {
    if (this.#bookings.delete(consumer)) this.admitNext();
  }

  /** Rejects all queued loads with DISPOSED. */
  close(): void {
    for (const waiting of this.#queue.slice()) this.#reject(waiting, new InferyardError("DISPOSED", "this runtime was disposed"));
  }

  /**
   * Admits queued loads that fit; if the first does not, evicts one unused model or drains one. Must be called when a model
   * becomes idle.
   */
  admitNext(): void {
    while (!this.#evicting) {
      const first = this.#queue[0];
      if (first !== undefined && this.#fits(first)) {
        this.#queue.shift();
        this.#bookings.set(first.consumer, first.need);
        first.grant();
      } else if (first !== undefined || this.#isOver()) {
        const victim = this.#manager.evictable().find((consumer) => this.#wouldFreeMemory(consumer, first));
        if (victim !== undefined) return void this.#evict(victim, first?.consumer.reference ?? "the budget");
        if (first !== undefined) this.#drainOne(first);
        return;
      } else {
        return;
      }
    }
  }

  async #evict(victim: Item, evictedFor: string): Promise<void> {
    this.#evicting = true; // one at a time: the next eviction may not be necessary
    await this.#manager.evict(victim, evictedFor).catch(() => {}); // an error while freeing does not keep the model
    this.#evicting = false;
    this.release(victim);
    this.admitNext();
    for (const waiting of this.#queue.filter(({ hasExpired }) => hasExpired)) this.#expire(waiting);
  }

  /** Refuses a load that has waited for the maximum time. While a model is being evicted its memory is about to be free, and the refusal waits for that. */
  #expire(waiting: QueuedLoad<Item>): void {
    waiting.hasExpired = true;
    if (!this.#evicting) this.#reject(waiting, this.#budgetError(waiting.consumer, waiting.need));
  }

  /** Drains one model. Otherwise a stream of requests for loaded models could starve the first load of the queue. */
  #drainOne(first: QueuedLoad<Item>): void {
    if (first.endDraining !== undefined) return;
    const soon = this.#manager.evictableSoon().find((consumer) => this.#wouldFreeMemory(consumer, first));
    if (soon !== undefined) first.endDraining = this.#manager.drain(soon);
  }

  #fits({ consumer, need }: QueuedLoad<Item>): boolean {
    const others = this.#heldByOthers(consumer);
    return others.length < this.#limits.models && findShortage(this.#limits, others, need) === undefined;
  }

  /**
   * Whether measured memory exceeds the limit by more than the tolerance. Within it models stay, since loading them again would
   * not make them smaller.
   */
  #isOver(): boolean {
    const limit = this.#limits.bytes[machineMemory] ?? Number.POSITIVE_INFINITY;
    const held = [...this.#bookings.values()].reduce((sum, amounts) => sum + (amounts[machineMemory] ?? 0), 0);
    return held > limit * toleratedExcess;
  }

  /** Whether unloading the consumer would free memory of the pool that is short. */
  #wouldFreeMemory(consumer: Item, first: QueuedLoad<Item> | undefined): boolean {
    const amounts = this.#bookings.get(consumer);
    if (amounts === undefined || consumer === first?.consumer) return false;
    const others = first === undefined ? [] : this.#heldByOthers(first.consumer);
    if (others.length >= this.#limits.models) return true;
    const pool = first === undefined ? machineMemory : findShortage(this.#limits, others, first.need)?.pool;
    return pool !== undefined && (amounts[pool] ?? 0) > 0;
  }

  #heldByOthers(consumer: Item): MemoryAmounts[] {
    return [...this.#bookings].filter(([other]) => other !== consumer).map(([, amounts]) => amounts);
  }

  #reject(waiting: QueuedLoad<Item>, error: InferyardError): void {
    const index = this.#queue.indexOf(waiting);
    if (index === -1) return;
    this.#queue.splice(index, 1);
    waiting.refuse(error);
    this.admitNext();
  }

  #budgetError(consumer: Item, need: MemoryAmounts): InferyardError {
    const others = this.#heldByOthers(consumer);
    const shortage = findShortage(this.#limits, others, need);
    const headline =
      shortage === undefined
        ? `${consumer.reference} cannot be loaded: ${others.length} of at most ${this.#limits.models} models are in memory, and none can be unloaded`
        : `${consumer.reference} needs about ${formatMegabytes(shortage.need)}${poolSuffix(shortage.pool)}, and the budget of ${formatMegabytes(shortage.limit)} has ${formatMegabytes(shortage.left)} left`;
    const pool = shortage?.pool ?? machineMemory;
    const holders = [...this.#bookings]
      .filter(([other]) => other !== consumer)
      .map(([other, amounts]) => ({
        reference: other.reference,
        bytes: amounts[pool] ?? 0,
        state: this.#manager.getState(other),
      }));
    const lines = holders.map(({ reference, bytes, state }) => `  ${reference}   ${formatMegabytes(bytes)}   ${state}`);
    return new InferyardError("MEMORY_BUDGET", [headline, ...lines].join("\n"), {
      remedy:
        shortage === undefined
          ? "dispose a handle, or raise maxLoadedModels"
          : "dispose a handle, raise maxMemory (maxDeviceMemory for a device), or choose a smaller variant",
      data: {
        reference: consumer.reference,
        need,
        limits: { bytes: this.#limits.bytes, models: finite(this.#limits.models) },
        holders,
      },
    });
  }
}

function poolSuffix(pool: string): string {
  return pool === machineMemory ? "" : ` on ${pool}`;
}

/** null for Infinity, which JSON cannot represent. */
function finite(count: number): number | null {
  return Number.isFinite(count) ? count : null;
}
