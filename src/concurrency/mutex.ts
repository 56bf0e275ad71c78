/** Mutual exclusion for asynchronous work. */

/** Serializes asynchronous work in the order of the calls. Runs of a model need it because they share memory. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all work that was queued before has settled, and returns its result. A failure does not affect later work. */
  async runExclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = this.#last;
    const own = (async (): Promise<Result> => {
      await before;
      return await work();
    })();
    this.#last = own.catch(() => {});
    return await own;
  }
}
