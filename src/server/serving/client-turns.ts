/**
 * Shares the server's thread fairly between clients. A request needs the thread for steps of about a millisecond each: request head, body, call,
 * response head. Node.js runs all ready steps within one turn of the event loop, so that the steps of hundreds of requests of one client would block
 * all other clients. After `turnMs` in one turn of the event loop, further steps are queued and run in later turns, round robin over the clients; only the
 * first step of a client in a turn need not wait.
 */

/** Time in milliseconds after which further steps wait for the next turn of the event loop. */
const turnMs = 5;
/** Maximum number of waiting steps that one turn begins. */
const maxSteps = 64;
/** Maximum number of clients whose first step in a turn begins at once, even after `turnMs`: a client with few requests then waits for no other. */
const maxFirstSteps = 16;

/** Queue of waiting steps, served round robin over the clients. */
export class ClientTurns {
  /** Waiting steps by client. The client that was served last is at the end. */
  readonly #queues = new Map<string, (() => void)[]>();
  readonly #now: () => number;
  #turnBegan: number | undefined;
  #waiting = 0;
  /** Clients with a step in this turn. */
  readonly #served = new Set<string>();

  /** `now`: clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves when the next step of a request of this client may begin. Undefined if it may begin at once. */
  wait(client: string): Promise<void> | undefined {
    const now = this.#now();
    if (this.#turnBegan === undefined) {
      this.#turnBegan = now;
      setImmediate(() => this.#nextTurn());
    }
    const queue = this.#queues.get(client);
    const isFirst = !this.#served.has(client) && this.#served.size < maxFirstSteps;
    if (queue === undefined && (isFirst || now - this.#turnBegan < turnMs)) {
      this.#served.add(client);
      return undefined;
    }
    this.#waiting += 1;
    return new Promise((begin) => {
      if (queue === undefined) this.#queues.set(client, [begin]);
      else queue.push(begin);
    });
  }

  /** Starts a new turn. It is scheduled after the event loop has read sockets, so that new steps of other clients are already queued. */
  #nextTurn(): void {
    this.#served.clear();
    if (this.#waiting === 0) {
      this.#turnBegan = undefined;
      return;
    }
    this.#turnBegan = this.#now();
    // One immediate callback per step: promise continuations run between callbacks, so that each callback sees the time used by the previous steps.
    for (let step = 0; step < Math.min(this.#waiting, maxSteps); step += 1) setImmediate(() => this.#serve(step === 0));
    setImmediate(() => this.#nextTurn());
  }

  /**
   * Starts a step of the client that was served least recently, unless `turnMs` is used up. `isFirst`: starts the step regardless of time, so that
   * every turn makes progress.
   */
  #serve(isFirst: boolean): void {
    if (!isFirst && this.#now() - (this.#turnBegan ?? 0) >= turnMs) return;
    for (const [client, queue] of this.#queues) {
      this.#queues.delete(client);
      this.#served.add(client);
      const begin = queue.shift();
      if (queue.length > 0) this.#queues.set(client, queue);
      this.#waiting -= 1;
      begin?.();
      return;
    }
  }
}
