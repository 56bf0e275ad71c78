/**
 * Who may load next. Loads that do not fit wait in line, first come first served, while models that nobody uses leave, the least
 * recently used first. Memory is booked before a load begins, so that loads in flight count.
 */
import { InferyardError, abortError } from "../../errors.ts";
import { type Amounts, type Limits, firstBooking, machineMemory, plus, shortageOf } from "./memory-budget.ts";

/** Measured sizes may exceed the limit by this factor before models leave for it. */
const toleratedExcess = 1.1;

/** A model that holds memory, or wants to. */
export interface Tenant {
  /** As the user wrote it. */
  readonly reference: string;
  readonly pinned: boolean;
}

/** Whoever keeps the models. */
export interface Landlord<Item extends Tenant> {
  /** Those that nobody uses and that may leave, least recently used first. */
  idle(): readonly Item[];
  /** Those whose users are all there for one piece of work, least recently used first: they will be idle if nobody new comes. */
  soonIdle(): readonly Item[];
  /** Lets nobody new use it, until the result is called or it has left. */
  closeDoor(item: Item): () => void;
  /** Resolves when its memory is free and `leave` was called. */
  evict(item: Item, toMakeRoomFor: string): Promise<void>;
  /** For the error's table: "in use (2 users)", "pinned", "loading". */
  stateOf(item: Item): string;
}

interface Waiting<Item> {
  readonly tenant: Item;
  readonly need: Amounts;
  readonly grant: () => void;
  readonly refuse: (error: InferyardError) => void;
  reopen?: () => void;
}

export class Admission<Item extends Tenant> {
  readonly #limits: Limits;
  readonly #waitMs: number;
  readonly #landlord: Landlord<Item>;
  readonly #bookings = new Map<Item, Amounts>();
  readonly #line: Waiting<Item>[] = [];
  #evicting = false;

  /** `waitMs`: how long a load waits for others to leave before it is refused. */
  constructor(limits: Limits, waitMs: number, landlord: Landlord<Item>) {
    this.#limits = limits;
    this.#waitMs = waitMs;
    this.#landlord = landlord;
  }

  /**
   * Waits until `estimated` fits and books it, in place of what the tenant had booked. What was only estimated is booked with a margin,
   * what is `known` as it is. Throws MEMORY_BUDGET, or ABORTED.
   */
  async enter(tenant: Item, estimated: Amounts, known: boolean, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw abortError(signal);
    const staying = [...this.#bookings].filter(([other]) => other !== tenant && other.pinned).map(([, amounts]) => amounts);
    if (staying.length >= this.#limits.models || shortageOf(this.#limits, staying, estimated) !== undefined) {
      throw this.#noRoom(tenant, estimated); // whoever else leaves, it will not fit
    }
    const need = known ? estimated : firstBooking(estimated, this.#limits, staying);
    let settle: (() => void) | undefined;
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting<Item> = { tenant, need, grant: resolve, refuse: reject };
      const timer = setTimeout(() => this.#giveUp(waiting, this.#noRoom(tenant, need)), this.#waitMs);
      const abort = (): void => this.#giveUp(waiting, abortError(signal));
      signal.addEventListener("abort", abort, { once: true });
      settle = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        waiting.reopen?.();
      };
      this.#line.push(waiting);
      this.look();
    }).finally(() => settle?.());
  }

  /** Books more if it fits at once; nobody leaves for it. */
  grow(tenant: Item, extra: Amounts): boolean {
    const booked = this.#bookings.get(tenant);
    if (booked === undefined || this.#line.length > 0) return false;
    if (shortageOf(this.#limits, this.#heldBesides(tenant), plus(booked, extra)) !== undefined) return false;
    this.#bookings.set(tenant, plus(booked, extra));
    return true;
  }

  /** What the tenant really holds. When that is more than fits, models that nobody uses leave. */
  correct(tenant: Item, amounts: Amounts): void {
    if (!this.#bookings.has(tenant)) return;
    this.#bookings.set(tenant, amounts);
    this.look();
  }

  /** The tenant's memory is free. */
  leave(tenant: Item): void {
    if (this.#bookings.delete(tenant)) this.look();
  }

  /** Refuses everyone in line. */
  close(): void {
    for (const waiting of this.#line.slice()) this.#giveUp(waiting, new InferyardError("DISPOSED", "this runtime was disposed"));
  }

  /** Looks whether the first in line fits now, and makes room if it does not. To be called when a model becomes idle. */
  look(): void {
    while (!this.#evicting) {
      const first = this.#line[0];
      if (first !== undefined && this.#fits(first)) {
        this.#line.shift();
        this.#bookings.set(first.tenant, first.need);
        first.grant();
      } else if (first !== undefined || this.#isOver()) {
        const victim = this.#landlord.idle().find((tenant) => this.#wouldHelp(tenant, first));
        if (victim !== undefined) return void this.#evict(victim, first?.tenant.reference ?? "the budget");
        if (first !== undefined) this.#closeADoor(first);
        return;
      } else {
        return;
      }
    }
  }

  async #evict(victim: Item, toMakeRoomFor: string): Promise<void> {
    this.#evicting = true; // one after the other: the next may not be needed
    await this.#landlord.evict(victim, toMakeRoomFor).catch(() => {}); // a model that cannot be freed is gone all the same
    this.#evicting = false;
    this.leave(victim);
    this.look();
  }

  /** Without it, a stream of requests for loaded models could keep the first in line waiting for ever. */
  #closeADoor(first: Waiting<Item>): void {
    if (first.reopen !== undefined) return;
    const soon = this.#landlord.soonIdle().find((tenant) => this.#wouldHelp(tenant, first));
    if (soon !== undefined) first.reopen = this.#landlord.closeDoor(soon);
  }

  #fits({ tenant, need }: Waiting<Item>): boolean {
    const others = this.#heldBesides(tenant);
    return others.length < this.#limits.models && shortageOf(this.#limits, others, need) === undefined;
  }

  /** Models that turned out a little larger than estimated stay: loading them again would not make them smaller. */
  #isOver(): boolean {
    const limit = this.#limits.bytes[machineMemory] ?? Number.POSITIVE_INFINITY;
    const held = [...this.#bookings.values()].reduce((sum, amounts) => sum + (amounts[machineMemory] ?? 0), 0);
    return held > limit * toleratedExcess;
  }

  /** Whether the place that is short would have more left without this tenant. */
  #wouldHelp(tenant: Item, first: Waiting<Item> | undefined): boolean {
    const amounts = this.#bookings.get(tenant);
    if (amounts === undefined || tenant === first?.tenant) return false;
    const others = first === undefined ? [] : this.#heldBesides(first.tenant);
    if (others.length >= this.#limits.models) return true;
    const place = first === undefined ? machineMemory : shortageOf(this.#limits, others, first.need)?.place;
    return place !== undefined && (amounts[place] ?? 0) > 0;
  }

  #heldBesides(tenant: Item): Amounts[] {
    return [...this.#bookings].filter(([other]) => other !== tenant).map(([, amounts]) => amounts);
  }

  #giveUp(waiting: Waiting<Item>, error: InferyardError): void {
    const place = this.#line.indexOf(waiting);
    if (place === -1) return;
    this.#line.splice(place, 1);
    waiting.refuse(error);
    this.look();
  }

  #noRoom(tenant: Item, need: Amounts): InferyardError {
    const others = this.#heldBesides(tenant);
    const shortage = shortageOf(this.#limits, others, need);
    const headline =
      shortage === undefined
        ? `${tenant.reference} cannot be loaded: ${others.length} of at most ${this.#limits.models} models are in memory, and none can leave`
        : `${tenant.reference} needs about ${megabytes(shortage.need)}${placeName(shortage.place)}, and the budget of ${megabytes(shortage.limit)} has ${megabytes(shortage.left)} left`;
    const place = shortage?.place ?? machineMemory;
    const holders = [...this.#bookings]
      .filter(([other]) => other !== tenant)
      .map(([other, amounts]) => ({
        reference: other.reference,
        bytes: amounts[place] ?? 0,
        state: this.#landlord.stateOf(other),
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
