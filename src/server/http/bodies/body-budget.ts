/** Memory for the bodies of all requests that are being received or processed. */
import { InferyardError } from "../../../errors.ts";

const retryAfterMs = 1000;

/**
 * A client may hold at most as many bytes as are free: one client alone holds half of the budget, n greedy clients leave 1/(n+1) of it to others
 * (dynamic thresholds, Choudhury and Hahne 1998).
 */
export class BodyBudget {
  readonly limit: number;
  readonly #held = new Map<string, number>();
  #used = 0;

  /** `limit`: bytes in all. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes that are held now. */
  get used(): number {
    return this.#used;
  }

  /** For one body of a client; holds nothing yet. */
  reservation(client: string): BodyReservation {
    let own = 0;
    return {
      grow: (bytes) => {
        if (own + bytes > this.limit / 2) throw tooLarge(own + bytes, this.limit);
        this.#take(client, bytes);
        own += bytes;
      },
      release: () => {
        this.#give(client, own);
        own = 0;
      },
    };
  }

  #take(client: string, bytes: number): void {
    const held = (this.#held.get(client) ?? 0) + bytes;
    const free = this.limit - this.#used - bytes;
    if (held > free) {
      throw new InferyardError(
        "QUEUE_FULL",
        `the request bodies of this client would hold ${held} bytes of memory, and ${Math.max(free, 0)} of ${this.limit} bytes would remain for others`,
        { remedy: "send fewer requests at once; retry after the time in Retry-After", retryAfterMs },
      );
    }
    this.#used += bytes;
    this.#held.set(client, held);
  }

  #give(client: string, bytes: number): void {
    const held = (this.#held.get(client) ?? 0) - bytes;
    this.#used -= bytes;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
  }
}

export interface BodyReservation {
  /**
   * Adds bytes. QUEUE_FULL where the client would hold more than remains free; LIMIT_EXCEEDED where this body alone takes more than half of the
   * budget, which no client may hold.
   */
  readonly grow: (bytes: number) => void;
  /** Returns all bytes. A second call has no effect. */
  readonly release: () => void;
}

function tooLarge(bytes: number, limit: number): InferyardError {
  return new InferyardError(
    "LIMIT_EXCEEDED",
    `the request body takes at least ${bytes} bytes of memory, and the limit is ${Math.floor(limit / 2)}`,
    { remedy: "send less at once, or raise maxInFlightBodyBytes", data: { limit: Math.floor(limit / 2) } },
  );
}
