/**
 * Checks and parses large JSON bodies one at a time, each in its own turn of the event loop, followed by a pause of the same length. Other requests thus get
 * at least half of the server's thread, however many large bodies arrive. A body waits twice: until its bytes are checked, and until its text is parsed.
 */
import { setImmediate, setTimeout } from "node:timers/promises";
import { Mutex } from "../../../concurrency/mutex.ts";

/** Bodies of at least this many bytes are queued; smaller ones take less than a millisecond. */
const largeBytes = 131_072;
/** Maximum pause after a large body, in milliseconds. */
const maxPauseMs = 200;

/** A queue of large JSON bodies, which are parsed one at a time. */
export class LargeBodyQueue {
  readonly #mutex = new Mutex();

  /** Waits until a body of this size may be checked or parsed, which the caller does before it awaits anything else. Undefined if it need not wait. */
  wait(bytes: number): Promise<void> | undefined {
    if (bytes < largeBytes) return undefined;
    return new Promise<void>((begin) => {
      void this.#mutex.runExclusive(async () => {
        const started = performance.now();
        begin();
        await setImmediate(); // the caller has parsed the body by then
        await setTimeout(Math.min(performance.now() - started, maxPauseMs));
      });
    });
  }
}
