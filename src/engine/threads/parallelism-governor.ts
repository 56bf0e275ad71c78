/**
 * Decides whether kernel calls run on several threads. On a busy machine parallel execution can be slower: the system may preempt a thread in the middle
 * of a chunk while the others wait, or run it on the caller's own processor. The governor keeps a credit of milliseconds: time that parallel calls saved
 * is added, time that they lost is subtracted. When the credit is used up, calls run on one thread for a while, doubled each time. This bounds the time
 * lost however busy the machine is.
 */

/** Upper bound on the credit in milliseconds: savings of long ago say little about the machine now. */
const maxCreditMs = 10;
/** Milliseconds that a new attempt at parallel execution may lose: its first call wakes threads, and the system may take some time to schedule them. */
const overheadBudgetMs = 5;
/** Length of a serial phase as a multiple of the loss that caused it: the loss is then a few percent at most. */
const serialFactor = 12;
/**
 * Minimum length of a serial phase in milliseconds. It doubles, up to the maximum, until parallel execution pays again: part of the cost of waking
 * threads cannot be measured.
 */
const minSerialMs = 16;
const maxSerialMs = 256;

/**
 * Decides, for one pool of threads, whether kernel calls run in parallel: once parallel calls have lost more time than they saved, calls run on one
 * thread for a while.
 */
export class ParallelismGovernor {
  readonly #now: () => number;
  #creditMs: number = overheadBudgetMs;
  #serialUntil = Number.NEGATIVE_INFINITY;
  #nextSerialMs: number = minSerialMs;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether calls should currently run on one thread. */
  get prefersSerial(): boolean {
    return this.#serialUntil > Number.NEGATIVE_INFINITY && this.#now() < this.#serialUntil;
  }

  /** Records a parallel call. `sharedMs` is its measured duration; `aloneMs` is its estimated duration on one thread. Both are in milliseconds. */
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
