/** Who runs, who waits, and who is sent away: so many requests at once, so many behind them, each for so long. */
import { InferyardError, abortError } from "../errors.ts";
import type { Priority } from "../runtime/turn.ts";

export interface AdmissionLimits {
  readonly running: number;
  readonly waiting: number;
}

interface Waiter {
  readonly client: string;
  admit(): void;
}

/** How many requests of the recent past the mean is taken over, roughly. */
const memory = 32;

export class Admission {
  readonly #limits: AdmissionLimits;
  /** By priority, then by client in the order of their turn. */
  readonly #waiting: Readonly<Record<Priority, Map<string, Waiter[]>>> = { high: new Map(), normal: new Map() };
  #running = 0;
  #queued = 0;
  #meanMs = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queued;
  }

  /** How long a request that comes now would wait, by how long others took; in milliseconds. */
  get expectedWaitMs(): number {
    return (this.#meanMs * (this.#queued + 1)) / this.#limits.running;
  }

  /** Runs work when it is its turn. QUEUE_FULL where too many wait; ABORTED when the client leaves while waiting. */
  async run<Result>(
    { client, priority, signal }: { readonly client: string; readonly priority: Priority; readonly signal: AbortSignal },
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (signal.aborted) throw abortError(signal);
    if (this.#running >= this.#limits.running) await this.#wait(client, priority, signal);
    else this.#running += 1;
    const started = performance.now();
    try {
      return await work();
    } finally {
      const took = performance.now() - started;
      this.#meanMs += (took - this.#meanMs) / memory;
      this.#next();
    }
  }

  #wait(client: string, priority: Priority, signal: AbortSignal): Promise<void> {
    if (this.#queued >= this.#limits.waiting) return Promise.reject(this.#full());
    const clients = this.#waiting[priority];
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        client,
        admit: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = (): void => {
        const own = (clients.get(client) ?? []).filter((other) => other !== waiter);
        if (own.length === 0) clients.delete(client);
        else clients.set(client, own);
        this.#queued -= 1;
        reject(abortError(signal));
      };
      const own = clients.get(client);
      if (own === undefined) clients.set(client, [waiter]);
      else own.push(waiter);
      this.#queued += 1;
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** The place of a request that has ended goes to the next in turn: one request of each client, then the next of each. */
  #next(): void {
    const clients = this.#waiting.high.size > 0 ? this.#waiting.high : this.#waiting.normal;
    const [turn] = clients;
    if (turn === undefined) {
      this.#running -= 1;
      return;
    }
    const [client, waiters] = turn;
    const waiter = waiters.shift();
    clients.delete(client);
    if (waiters.length > 0) clients.set(client, waiters); // behind the other clients
    this.#queued -= 1;
    waiter?.admit();
  }

  #full(): InferyardError {
    const waitMs = Math.ceil(Math.max(this.expectedWaitMs, 1000));
    return new InferyardError("QUEUE_FULL", `${this.#queued} requests are waiting already, and no more are taken`, {
      remedy: "send the request again later, as Retry-After says",
      retryAfterMs: waitMs,
    });
  }
}
