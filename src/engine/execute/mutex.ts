/** One at a time: runs of a model share its memory. */

export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Does the work when all that came before is done, well or not. */
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
