/** Time of grammar threads that each client may use in a minute. */
import { InferyardError } from "../../../../contract/errors.ts";

interface Usage {
  usedMs: number;
  /** When `usedMs` was computed, in milliseconds of the clock. */
  at: number;
}

const minuteMs = 60_000;
/** Number of clients from which those without usage are dropped. */
const firstSweep = 10_000;

/** Counts the processor time of each client; used time decays evenly within a minute. */
export class ClientTime {
  readonly #perMinuteMs: number;
  readonly #now: () => number;
  readonly #usages = new Map<string, Usage>();
  #sweepSize = firstSweep;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(perMinuteMs: number, now: () => number = () => performance.now()) {
    this.#perMinuteMs = perMinuteMs;
    this.#now = now;
  }

  /** Whether a client has used up its time. */
  isUsedUp(client: string): boolean {
    return this.#usage(client).usedMs >= this.#perMinuteMs;
  }

  /** Throws RATE_LIMITED, with the time until it does not, for a client that has used up its time. */
  require(client: string): void {
    if (!this.isUsedUp(client)) return;
    const { usedMs } = this.#usage(client);
    throw new InferyardError(
      "RATE_LIMITED",
      `the constraints of this client took ${Math.round(usedMs)} ms in a minute, and ${this.#perMinuteMs} ms is the limit`,
      {
        remedy: "send the request again later, as Retry-After says, or send fewer different constraints",
        retryAfterMs: Math.max(1, Math.ceil(((usedMs - this.#perMinuteMs) * minuteMs) / this.#perMinuteMs)),
        data: { setting: "constraintTimePerMinute", number: Math.round(usedMs), limit: this.#perMinuteMs },
      },
    );
  }

  /** Adds time that a client has used. */
  add(client: string, milliseconds: number): void {
    const usage = this.#usage(client);
    usage.usedMs += milliseconds;
    this.#usages.set(client, usage);
    if (this.#usages.size > this.#sweepSize) this.#forget();
  }

  #usage(client: string): Usage {
    const now = this.#now();
    const { usedMs, at } = this.#usages.get(client) ?? { usedMs: 0, at: now };
    return { usedMs: Math.max(0, usedMs - ((now - at) * this.#perMinuteMs) / minuteMs), at: now };
  }

  #forget(): void {
    for (const client of this.#usages.keys()) if (this.#usage(client).usedMs === 0) this.#usages.delete(client);
    this.#sweepSize = Math.max(firstSweep, 2 * this.#usages.size);
  }
}
