/** When a run that may be aborted lets others have their turn. */
import { throwIfAborted } from "../../errors.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";

const yieldIntervalMs = 20;

export class YieldPolicy {
  readonly signal: AbortSignal | undefined;
  #deadline: number;

  /** Without a signal nobody waits for a turn. */
  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
    this.#deadline = signal === undefined ? Number.POSITIVE_INFINITY : performance.now() + yieldIntervalMs;
  }

  /** When the next turn is due, of performance.now(). */
  get deadline(): number {
    return this.#deadline;
  }

  /** Lets others have their turn, if it is due. ABORTED where the caller left. */
  async yieldIfDue(): Promise<void> {
    if (performance.now() < this.#deadline) return;
    await yieldToEventLoop();
    throwIfAborted(this.signal);
    this.#deadline = performance.now() + yieldIntervalMs;
  }
}
