/**
 * Whether sharing pays. On a busy machine a thread may be put aside in the middle of a chunk, and everybody waits for it; or it is woken on the
 * caller's own processor, and only takes time from it. So what sharing gains is put by, and what it loses is taken from that; once it has lost
 * more, calls are computed alone for a while, each time longer. That bounds what the other threads can cost, however busy the machine is.
 */

/** Gains of long ago say little of the machine as it is now. */
const maxCreditMs = 10;
/** What a try may lose: the first call wakes threads, and it may take the system some milliseconds to give them a processor of their own. */
const overheadBudgetMs = 5;
/** A loss is spread over so many times its length: it costs a few percent at most. */
const serialFactor = 12;
/** The shortest while, doubled until sharing pays again, up to the longest: what waking others costs cannot be seen in full. */
const minSerialMs = 16;
const maxSerialMs = 256;

export class ParallelismGovernor {
  readonly #now: () => number;
  #creditMs: number = overheadBudgetMs;
  #serialUntil = Number.NEGATIVE_INFINITY;
  #nextSerialMs: number = minSerialMs;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether calls are better computed alone for now. */
  get prefersSerial(): boolean {
    return this.#serialUntil > Number.NEGATIVE_INFINITY && this.#now() < this.#serialUntil;
  }

  /** A call took so many milliseconds shared, and would have taken others alone. */
  record(sharedMs: number, aloneMs: number): void {
    this.#creditMs += aloneMs - sharedMs;
    if (this.#creditMs >= maxCreditMs) {
      this.#creditMs = maxCreditMs;
      this.#nextSerialMs = minSerialMs;
    }
    if (this.#creditMs >= 0) return;
    this.#serialUntil = this.#now() + Math.max((overheadBudgetMs - this.#creditMs) * serialFactor, this.#nextSerialMs);
    this.#nextSerialMs = Math.min(this.#nextSerialMs * 2, maxSerialMs);
    this.#creditMs = overheadBudgetMs;
  }
}
