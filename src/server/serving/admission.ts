/**
 * Admission control: limits how many requests run at once and how many wait, for the whole server and for single models. Waiting clients are
 * served by weighted fair queueing.
 */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { InferyardError, abortError } from "../../contract/errors.ts";
import { FairQueue } from "../../runtime/scheduling/fair-queue.ts";
import type { Priority } from "../../runtime/scheduling/scheduling-key.ts";

/** Limits of the server or of one model. */
export interface AdmissionLimits {
  /** Maximum number of requests that run at once. */
  readonly maxRunning: number;
  /** Maximum number of requests that wait behind the running ones. */
  readonly maxWaiting: number;
}

/** A request for admission. */
export interface AdmissionRequest {
  /** Identifies the client; waiting clients share the capacity fairly. */
  readonly client: string;
  readonly priority: Priority;
  /** Aborted when the client disconnects; a waiting request then leaves the queue. */
  readonly signal: AbortSignal;
  /** Key of the model whose own limits apply in addition to the server's. Default: only the server's limits apply. */
  readonly model?: string;
}

/** Limits of the server or of one model, with its current load. */
interface LimitState {
  readonly limits: AdmissionLimits;
  running: number;
  waiting: number;
  /** Running requests of each client. */
  readonly clients: Map<string, number>;
  /** Exponential moving average of the run time of a request, in milliseconds. */
  meanMs: number;
}

interface Waiter {
  readonly client: string;
  readonly modelState: LimitState | undefined;
  /** Removes the request from the queue and starts it. */
  admit(): void;
  /** Removes the request from the queue and rejects it. */
  refuse(error: InferyardError): void;
}

/**
 * A client with some running requests leaves as many places free, up to one of so many of all, so that long requests of one client keep neither another one
 * out nor its second and third request.
 */
const reservedPart = 16;
/** Number of recent requests that dominate the moving average of run times. */
const meanWindow = 32;

/** Runs requests within the limits of the server and of their models. */
export class Admission {
  /** State of the whole server. */
  readonly #all: LimitState;
  /** States of the models that have limits of their own, by key. */
  readonly #models: ReadonlyMap<string, LimitState>;
  /** Waiting requests. No request that could run now is among them. */
  readonly #queue = new FairQueue<Waiter>();
  /** Waiting requests of each client, in order of arrival. */
  readonly #clients = new Map<string, Set<Waiter>>();

  /** `limits`: those of the server. `models`: limits of single models by key; each omitted limit defaults to the server's. */
  constructor(limits: AdmissionLimits, models: ReadonlyMap<string, Partial<AdmissionLimits>> = new Map()) {
    this.#all = newState(limits);
    this.#models = new Map(Array.from(models, ([key, own]) => [key, newState({ ...limits, ...own })]));
  }

  /** Number of requests that run now. */
  get running(): number {
    return this.#all.running;
  }

  /** Number of requests that wait now. */
  get waiting(): number {
    return this.#all.waiting;
  }

  /** Maximum number of requests for a model that run at once. */
  maxRunning(model: string): number {
    return Math.min(this.#all.limits.maxRunning, this.#getState(model)?.limits.maxRunning ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Estimated waiting time in milliseconds of a request that arrives now: queue length times mean run time, divided by the maximum parallelism.
   */
  expectedWaitMs(model?: string): number {
    return Math.max(expectedWait(this.#all), expectedWait(this.#getState(model)));
  }

  /**
   * Runs `work` as soon as the limits admit it. Throws QUEUE_FULL if the queue is full, and ABORTED if the signal is aborted before the work
   * starts.
   */
  async run<Result>(request: AdmissionRequest, work: () => Promise<Result>): Promise<Result> {
    const { client, signal, model } = request;
    if (signal.aborted) throw abortError(signal);
    const modelState = this.#getState(model);
    if (this.#hasCapacity(client, modelState)) this.#enter(client, modelState);
    else await this.#wait(request, modelState);
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.#leave(client, modelState, performance.now() - started);
    }
  }

  #getState(model: string | undefined): LimitState | undefined {
    return model === undefined ? undefined : this.#models.get(model);
  }

  #hasCapacity(client: string, modelState: LimitState | undefined): boolean {
    return hasCapacity(this.#all, client) && (modelState === undefined || hasCapacity(modelState, client));
  }

  #enter(client: string, modelState: LimitState | undefined): void {
    for (const state of modelState === undefined ? [this.#all] : [this.#all, modelState]) count(state, client, 1);
  }

  #leave(client: string, modelState: LimitState | undefined, tookMs: number): void {
    for (const state of modelState === undefined ? [this.#all] : [this.#all, modelState]) {
      count(state, client, -1);
      state.meanMs += (tookMs - state.meanMs) / meanWindow;
    }
    while (this.#admitNext()) {
      // one completed request may admit several where models have limits of their own
    }
  }

  async #wait({ client, priority, signal }: AdmissionRequest, modelState: LimitState | undefined): Promise<void> {
    if (modelState !== undefined && isFull(modelState)) this.#dropFromLongestQueue(client, modelState);
    if (isFull(this.#all)) this.#dropFromLongestQueue(client, this.#all);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        removeAbortListener(signal, leave);
        this.#count(modelState, -1);
        const own = this.#clients.get(client);
        own?.delete(waiter);
        if (own?.size === 0) this.#clients.delete(client);
      };
      const waiter: Waiter = {
        client,
        modelState,
        admit: () => {
          end();
          this.#enter(client, modelState);
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
      this.#count(modelState, 1);
      addAbortListener(signal, leave);
    });
  }

  /**
   * Longest queue drop (Suter et al. 1998): when a queue is full, the newest waiting request of the client that has the most is refused, so that
   * no client can occupy the whole queue. Throws QUEUE_FULL, which refuses the new request instead, unless another client has at least two more
   * waiting than this one.
   */
  #dropFromLongestQueue(client: string, full: LimitState): void {
    const countedWaiters = (waiters: ReadonlySet<Waiter> = new Set()): Waiter[] =>
      [...waiters].filter(({ modelState }) => full === this.#all || modelState === full);
    const longest = [...this.#clients.values()]
      .map((waiters) => countedWaiters(waiters))
      .reduce((a, b) => (b.length > a.length ? b : a), []);
    const error = this.#queueFull(full, full === this.#all ? "" : " for this model");
    if (longest.length <= countedWaiters(this.#clients.get(client)).length + 1) throw error;
    longest.at(-1)?.refuse(error);
  }

  #count(modelState: LimitState | undefined, change: 1 | -1): void {
    this.#all.waiting += change;
    if (modelState !== undefined) modelState.waiting += change;
  }

  /** Starts the next waiting request that the server and its model have capacity for; false if there is none. */
  #admitNext(): boolean {
    const waiter = this.#queue.take(({ client, modelState }) => {
      if (!hasCapacity(this.#all, client)) return "skip flow";
      return modelState === undefined || hasCapacity(modelState, client) ? "take" : "skip";
    });
    waiter?.admit();
    return waiter !== undefined;
  }

  #queueFull(state: LimitState, where: string): InferyardError {
    const waitMs = Math.ceil(Math.max(expectedWait(state), 1000));
    return new InferyardError("QUEUE_FULL", `${state.waiting} requests${where} are already waiting, which is the limit`, {
      remedy: "send the request again later, as Retry-After says",
      retryAfterMs: waitMs,
    });
  }
}

function newState(limits: AdmissionLimits): LimitState {
  return { limits, running: 0, waiting: 0, clients: new Map(), meanMs: 0 };
}

function hasCapacity({ running, clients, limits: { maxRunning } }: LimitState, client: string): boolean {
  const reserved = Math.min(clients.get(client) ?? 0, Math.floor(maxRunning / reservedPart));
  return running < maxRunning - reserved;
}

/** Counts a request that begins (1) or has ended (-1). */
function count(state: LimitState, client: string, change: 1 | -1): void {
  state.running += change;
  const own = (state.clients.get(client) ?? 0) + change;
  if (own === 0) state.clients.delete(client);
  else state.clients.set(client, own);
}

function expectedWait(state: LimitState | undefined): number {
  return state === undefined ? 0 : (state.meanMs * (state.waiting + 1)) / state.limits.maxRunning;
}

function isFull({ waiting, limits }: LimitState): boolean {
  return waiting >= limits.maxWaiting;
}
