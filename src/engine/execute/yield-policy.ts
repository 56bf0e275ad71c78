/** When a run that may be aborted lets others have their turn. */
import { throwIfAborted } from "../../errors.ts";
import { nextTurn } from "../../platform/event-loop.ts";

const turnMs = 20;

export class Pace {
  readonly signal: AbortSignal | undefined;
  #deadline: number;

  /** Without a signal nobody waits for a turn. */
  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
    this.#deadline = signal === undefined ? Number.POSITIVE_INFINITY : performance.now() + turnMs;
  }

  /** When the next turn is due, of performance.now(). */
  get deadline(): number {
    return this.#deadline;
  }

  /** Lets others have their turn, if it is due. ABORTED where the caller left. */
  async turn(): Promise<void> {
    if (performance.now() < this.#deadline) return;
    await nextTurn();
    throwIfAborted(this.signal);
    this.#deadline = performance.now() + turnMs;
  }
}
