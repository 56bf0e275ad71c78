/** Decides when a run yields to the event loop. */
import { throwIfAborted } from "../../contract/errors.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";

const yieldIntervalMs = 20;

/** Makes a run that can be aborted yield every 20 ms, so that the signal can fire. */
export class YieldPolicy {
  /** The signal that aborts the run. */
  readonly signal: AbortSignal | undefined;
  #deadline: number;

  /** Without a signal the run cannot be aborted, and never yields. */
  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
    this.#deadline = signal === undefined ? Number.POSITIVE_INFINITY : performance.now() + yieldIntervalMs;
  }

  /** When the next yield is due, as a time of performance.now(). */
  get deadline(): number {
    return this.#deadline;
  }

  /** Yields to the event loop if 20 ms have passed since the last yield. Throws ABORTED if the signal is aborted. */
  async yieldIfDue(): Promise<void> {
    if (performance.now() < this.#deadline) return;
    await yieldToEventLoop();
    throwIfAborted(this.signal);
    this.#deadline = performance.now() + yieldIntervalMs;
  }
}
