/** So many requests, or loads, a minute for each client: a bucket that holds a minute's worth and fills steadily. */
import { InferyardError } from "../../../errors.ts";

interface Bucket {
  tokens: number;
  /** When `tokens` was right, in milliseconds. */
  at: number;
}

const minuteMs = 60_000;
/** Clients without keys are told apart by address, and there may be many: beyond this number full buckets are looked for, and forgotten. */
const firstSweep = 10_000;

export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;
  #most = firstSweep;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes one request of a client; RATE_LIMITED with the time until there is one again. `what`: what is counted, for the message. */
  take(client: string, perMinute: number, what = "requests"): void {
    const now = this.#now();
    const bucket = this.#buckets.get(client) ?? { tokens: perMinute, at: now };
    bucket.tokens = Math.min(perMinute, bucket.tokens + ((now - bucket.at) * perMinute) / minuteMs);
    bucket.at = now;
    this.#buckets.set(client, bucket);
    if (this.#buckets.size > this.#most) this.#forget(now);
    if (bucket.tokens < 1) {
      throw new InferyardError("RATE_LIMITED", `more than ${perMinute} ${what} in a minute`, {
        remedy: "send the request again later, as Retry-After says",
        retryAfterMs: Math.ceil(((1 - bucket.tokens) * minuteMs) / perMinute),
      });
    }
    bucket.tokens -= 1;
  }

  /** Who was silent for a minute has a full bucket, as a newcomer does. */
  #forget(now: number): void {
    for (const [client, { at }] of this.#buckets) if (now - at >= minuteMs) this.#buckets.delete(client);
    this.#most = Math.max(firstSweep, 2 * this.#buckets.size); // not at every request, when they are many and none is full
  }
}
