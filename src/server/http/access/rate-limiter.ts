/** Rate limiting per client and minute. */
import { InferyardError } from "../../../contract/errors.ts";

/** Token bucket of one client. */
interface Bucket {
  tokens: number;
  /** When `tokens` was computed, in milliseconds of the limiter's clock. */
  at: number;
}

const minuteMs = 60_000;
/** Number of buckets from which full ones are dropped: clients without keys are identified by address, and there may be many. */
const firstSweep = 10_000;

/** Rate limits per client: token buckets that hold the tokens of one minute and refill continuously. */
export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;
  #sweepSize = firstSweep;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes a token of the client. Throws RATE_LIMITED, with the time until the next token, if there is none. `what` is the limited unit in the message. */
  take(client: string, perMinute: number, what = "requests"): void {
    const now = this.#now();
    const bucket = this.#buckets.get(client) ?? { tokens: perMinute, at: now };
    bucket.tokens = Math.min(perMinute, bucket.tokens + ((now - bucket.at) * perMinute) / minuteMs);
    bucket.at = now;
    this.#buckets.set(client, bucket);
    if (this.#buckets.size > this.#sweepSize) this.#forget(now);
    if (bucket.tokens < 1) {
      throw new InferyardError("RATE_LIMITED", `more than ${perMinute} ${what} in a minute`, {
        remedy: "send the request again later, as Retry-After says",
        retryAfterMs: Math.ceil(((1 - bucket.tokens) * minuteMs) / perMinute),
      });
    }
    bucket.tokens -= 1;
  }

  /** Drops the buckets that are full again after a minute without requests. */
  #forget(now: number): void {
    for (const [client, { at }] of this.#buckets) if (now - at >= minuteMs) this.#buckets.delete(client);
    this.#sweepSize = Math.max(firstSweep, 2 * this.#buckets.size); // not at every request, if there are many and none is full
  }
}
