/** Bounds the memory of all request bodies that are being received or processed. */
import { InferyardError } from "../../../contract/errors.ts";

const retryAfterMs = 1000;

/**
 * A budget of bytes for the bodies of all requests. A client may hold at most as many bytes as are free: one client alone holds half of the
 * budget, and n greedy clients leave 1/(n+1) of it to others (dynamic thresholds, Choudhury and Hahne 1998).
 */
export class BodyBudget {
  readonly limit: number;
  readonly #held = new Map<string, number>();
  #used = 0;

  /** `limit`: the budget in bytes. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes held now. */
  get used(): number {
    return this.#used;
  }

  /** A reservation for one body of the client; it holds no memory yet. */
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

/** The memory of one request body. */
export interface BodyReservation {
  /**
   * Adds bytes. Throws QUEUE_FULL if the client would then hold more than remains free, and LIMIT_EXCEEDED if this body alone exceeds half of the
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
