/**
 * Spreads a burst of requests over turns of the event loop. Beginning a request takes the server's thread a millisecond or two, and Node.js begins all that have
 * arrived within one turn: hundreds of one client would hold up everybody. Beyond `turnMs` of one turn, each client begins one request in each of the next turns.
 */

/** Time in milliseconds after which further requests wait for a later turn. */
const turnMs = 8;

/** The requests that wait to begin. */
export class RequestTurns {
  /** By client, in the order of arrival. */
  readonly #queues = new Map<string, (() => void)[]>();
  readonly #now: () => number;
  #turnBegan: number | undefined;

  /** `now`: a time in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves when a request of a client may begin. Undefined: at once. */
  wait(client: string): Promise<void> | undefined {
    const now = this.#now();
    if (this.#turnBegan === undefined) {
      this.#turnBegan = now;
      setImmediate(() => this.#nextTurn());
    }
    const queue = this.#queues.get(client);
    if (queue === undefined && now - this.#turnBegan < turnMs) return undefined;
    return new Promise((begin) => {
      if (queue === undefined) this.#queues.set(client, [begin]);
      else queue.push(begin);
    });
  }

  /** Sockets have been read since the last turn, so that requests of other clients are here. */
  #nextTurn(): void {
    if (this.#queues.size === 0) {
      this.#turnBegan = undefined;
      return;
    }
    this.#turnBegan = this.#now();
    setImmediate(() => this.#nextTurn());
    for (const [client, queue] of this.#queues) {
      queue.shift()?.();
      if (queue.length === 0) this.#queues.delete(client);
    }
  }
}
