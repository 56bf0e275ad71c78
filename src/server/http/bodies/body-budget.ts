/** Bounds the memory of all request bodies that are being received or processed. */
import { InferyardError } from "../../../contract/errors.ts";
import { ClientBytes } from "../../serving/client-bytes.ts";

const retryAfterMs = 1000;

/** A budget of bytes for the bodies of all requests. */
export class BodyBudget extends ClientBytes {
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
        this.add(client, -own);
        own = 0;
      },
    };
  }

  #take(client: string, bytes: number): void {
    if (!this.fits(client, bytes)) {
      const free = Math.max(this.limit - this.used - bytes, 0);
      throw new InferyardError(
        "QUEUE_FULL",
        `the request bodies of this client would hold ${this.heldBy(client) + bytes} bytes of memory, and ${free} of ${this.limit} bytes would remain for others`,
        { remedy: "send fewer requests at once; retry after the time in Retry-After", retryAfterMs },
      );
    }
    this.add(client, bytes);
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
