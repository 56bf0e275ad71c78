/** Who runs, who waits, and who is sent away: so many requests at once, so many behind them; for all models together, and for single ones. */
import { InferyardError, abortError } from "../../errors.ts";
import { FairQueue } from "../../runtime/scheduling/fair-queue.ts";
import type { Priority } from "../../runtime/scheduling/scheduling-key.ts";

export interface AdmissionLimits {
  readonly running: number;
  readonly waiting: number;
}

/** Who wants to run, and until when. */
export interface AdmissionRequest {
  readonly client: string;
  readonly priority: Priority;
  readonly signal: AbortSignal;
  /** Key of the limits it counts against besides those of all. Default: none. */
  readonly model?: string;
}

/** What one model's limits leave. */
interface LimitState {
  readonly limits: AdmissionLimits;
  running: number;
  waiting: number;
  meanMs: number;
}

interface Waiter {
  readonly client: string;
  readonly gate: LimitState | undefined;
  admit(): void;
  /** Leaves the queue with an error. */
  refuse(error: InferyardError): void;
}

/** How many requests of the recent past the mean is taken over, roughly. */
const meanWindow = 32;

export class Admission {
  /** Of all models together. */
  readonly #all: LimitState;
  readonly #models: ReadonlyMap<string, LimitState>;
  /** Nobody is among them who could run. */
  readonly #queue = new FairQueue<Waiter>();
  /** The same by client, in the order they came. */
  readonly #clients = new Map<string, Set<Waiter>>();

  /** `models`: limits of single models, by the keys that applicants name; what is left out there is limited by `limits` alone. */
  constructor(limits: AdmissionLimits, models: ReadonlyMap<string, Partial<AdmissionLimits>> = new Map()) {
    this.#all = newState(limits);
    this.#models = new Map(Array.from(models, ([key, own]) => [key, newState({ ...limits, ...own })]));
  }

  get running(): number {
    return this.#all.running;
  }

  get waiting(): number {
    return this.#all.waiting;
  }

  /** How long a request that comes now would wait, by how long others took; in milliseconds. */
  expectedWaitMs(model?: string): number {
    return Math.max(expectedWait(this.#all), expectedWait(this.#stateOf(model)));
  }

  /** Runs work when it is its turn. QUEUE_FULL where too many wait; ABORTED when the client leaves while waiting. */
  async run<Result>(applicant: AdmissionRequest, work: () => Promise<Result>): Promise<Result> {
    const { signal, model } = applicant;
    if (signal.aborted) throw abortError(signal);
    const gate = this.#stateOf(model);
    if (this.#hasCapacity(gate)) this.#enter(gate);
    else await this.#wait(applicant, gate);
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.#leave(gate, performance.now() - started);
    }
  }

  #stateOf(model: string | undefined): LimitState | undefined {
    return model === undefined ? undefined : this.#models.get(model);
  }

  #hasCapacity(gate: LimitState | undefined): boolean {
    return hasCapacity(this.#all) && (gate === undefined || hasCapacity(gate));
  }

  #enter(gate: LimitState | undefined): void {
    this.#all.running += 1;
    if (gate !== undefined) gate.running += 1;
  }

  #leave(gate: LimitState | undefined, tookMs: number): void {
    for (const place of gate === undefined ? [this.#all] : [this.#all, gate]) {
      place.running -= 1;
      place.meanMs += (tookMs - place.meanMs) / meanWindow;
    }
    while (this.#admitNext()) {
      // one that has ended may make room for several, where models have limits of their own
    }
  }

  async #wait({ client, priority, signal }: AdmissionRequest, gate: LimitState | undefined): Promise<void> {
    if (gate !== undefined && isFull(gate)) this.#dropFromLongestQueue(client, gate);
    if (isFull(this.#all)) this.#dropFromLongestQueue(client, this.#all);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        signal.removeEventListener("abort", leave);
        this.#count(gate, -1);
        const own = this.#clients.get(client);
        own?.delete(waiter);
        if (own?.size === 0) this.#clients.delete(client);
      };
      const waiter: Waiter = {
        client,
        gate,
        admit: () => {
          end();
          this.#enter(gate);
          resolve();
        },
        refuse: (error) => {
          end();
          this.#queue.remove({ client, priority }, waiter);
          reject(error);
        },
      };
      const leave = (): void => waiter.refuse(abortError(signal));
      this.#queue.add({ client, priority }, waiter);
      this.#clients.set(client, (this.#clients.get(client) ?? new Set()).add(waiter));
      this.#count(gate, 1);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /**
   * Longest queue drop (Suter et al. 1998): in a full queue the newest request of the client with the most waiting ones is refused in place of
   * one of a client with fewer, so that one client cannot fill the queue. QUEUE_FULL where no other has more than one more than this one.
   */
  #dropFromLongestQueue(client: string, full: LimitState): void {
    const counts = (waiters: ReadonlySet<Waiter> = new Set()): Waiter[] =>
      [...waiters].filter(({ gate }) => full === this.#all || gate === full);
    const most = [...this.#clients.values()]
      .map((waiters) => counts(waiters))
      .reduce((a, b) => (b.length > a.length ? b : a), []);
    const error = this.#queueFull(full, full === this.#all ? "" : " for this model");
    if (most.length <= counts(this.#clients.get(client)).length + 1) throw error;
    most.at(-1)?.refuse(error);
  }

  #count(gate: LimitState | undefined, change: 1 | -1): void {
    this.#all.waiting += change;
    if (gate !== undefined) gate.waiting += change;
  }

  /** A place that is free goes to the next in turn whose model has one too. */
  #admitNext(): boolean {
    const waiter = this.#queue.take(({ gate }) => (this.#hasCapacity(gate) ? "take" : "skip"));
    waiter?.admit();
    return waiter !== undefined;
  }

  #queueFull(gate: LimitState, where: string): InferyardError {
    const waitMs = Math.ceil(Math.max(expectedWait(gate), 1000));
    return new InferyardError("QUEUE_FULL", `${gate.waiting} requests${where} are waiting already, and no more are taken`, {
      remedy: "send the request again later, as Retry-After says",
      retryAfterMs: waitMs,
    });
  }
}

function newState(limits: AdmissionLimits): LimitState {
  return { limits, running: 0, waiting: 0, meanMs: 0 };
}

function hasCapacity({ running, limits }: LimitState): boolean {
  return running < limits.running;
}

function expectedWait(gate: LimitState | undefined): number {
  return gate === undefined ? 0 : (gate.meanMs * (gate.waiting + 1)) / gate.limits.running;
}

function isFull({ waiting, limits }: LimitState): boolean {
  return waiting >= limits.waiting;
}
