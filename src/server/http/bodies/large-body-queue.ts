/**
 * Large JSON bodies are scanned and parsed one at a time, each in a turn of the event loop of its own, with a pause of the same length behind it:
 * other requests have at least half of the server's thread, however many such bodies come.
 */

/** Bodies of fewer bytes take less than a millisecond. */
const largeBytes = 131_072;
const maxPauseMs = 200;

export class LargeBodyQueue {
  #last: Promise<void> = Promise.resolve();

  /** Waits until a body of so many bytes may be parsed, which the caller does before it waits for anything else. */
  async wait(bytes: number): Promise<void> {
    if (bytes < largeBytes) return;
    const previous = this.#last;
    let end = (): void => {};
    this.#last = new Promise((resolve) => (end = resolve));
    await previous;
    const started = performance.now();
    setImmediate(() => setTimeout(end, Math.min(performance.now() - started, maxPauseMs)));
  }
}
