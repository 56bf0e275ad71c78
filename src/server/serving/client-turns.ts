/**
 * Shares the server's thread between clients. What a request needs of it (its head, its body, its call, the head of its response) are steps of about a
 * millisecond each, and Node.js runs all that are ready within one turn of the event loop: the steps of hundreds of requests of one client would hold up
 * everybody. Beyond `turnMs` of one turn, further steps wait for the next turns, in which clients take turns (round robin).
 */

/** Time in milliseconds of one turn of the event loop after which further steps wait. */
const turnMs = 5;
/** Maximum number of waiting steps that one turn begins. */
const maxSteps = 64;

/** The steps that wait. */
export class ClientTurns {
  /** By client; the client that was served last is the last. */
  readonly #queues = new Map<string, (() => void)[]>();
  readonly #now: () => number;
  #turnBegan: number | undefined;
  #waiting = 0;

  /** `now`: a time in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves when the next step of a request of this client may begin. Undefined: at once. */
  wait(client: string): Promise<void> | undefined {
    const now = this.#now();
    if (this.#turnBegan === undefined) {
      this.#turnBegan = now;
      setImmediate(() => this.#nextTurn());
    }
    const queue = this.#queues.get(client);
    if (queue === undefined && now - this.#turnBegan < turnMs) return undefined;
    this.#waiting += 1;
    return new Promise((begin) => {
      if (queue === undefined) this.#queues.set(client, [begin]);
      else queue.push(begin);
    });
  }

  /** Sockets are read before the next turn of the event loop, so that steps of other clients are here when it serves. */
  #nextTurn(): void {
    if (this.#waiting === 0) {
      this.#turnBegan = undefined;
      return;
    }
    this.#turnBegan = this.#now();
    // One callback for each step: what follows a promise runs between callbacks, so that each sees the time that the steps before it took.
    for (let step = 0; step < Math.min(this.#waiting, maxSteps); step += 1) setImmediate(() => this.#serve(step === 0));
    setImmediate(() => this.#nextTurn());
  }

  /** Begins a step of the client that was served longest ago. `isFirst`: whatever the time, so that every turn begins one. */
  #serve(isFirst: boolean): void {
    if (!isFirst && this.#now() - (this.#turnBegan ?? 0) >= turnMs) return;
    for (const [client, queue] of this.#queues) {
      this.#queues.delete(client);
      const begin = queue.shift();
      if (queue.length > 0) this.#queues.set(client, queue);
      this.#waiting -= 1;
      begin?.();
      return;
    }
  }
}
