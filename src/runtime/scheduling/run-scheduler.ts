/**
 * Scheduling of runs on raw tensors: at most one run for each instance of the model at a time, in the order of a fair queue of
 * clients.
 */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { abortError, throwIfAborted } from "../../contract/errors.ts";
import { FairQueue } from "./fair-queue.ts";
import type { SchedulingKey } from "./scheduling-key.ts";

interface Waiting {
  readonly signal: AbortSignal | undefined;
  readonly begin: () => void;
}

/** Limits the concurrent runs of one model and orders waiting ones fairly. */
export class RunScheduler {
  readonly #queue = new FairQueue<Waiting>();
  #running = 0;

  /**
   * Waits until the scheduler selects this client, then runs `work`. `limit`: maximum number of concurrent runs. Throws ABORTED
   * if the signal is aborted while it waits.
   */
  async run<Result>(
    schedulingKey: SchedulingKey,
    limit: number,
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    throwIfAborted(signal);
    if (this.#running < limit) this.#running += 1;
    else await this.#waitForSlot(schedulingKey, signal);
    try {
      throwIfAborted(signal);
      return await work();
    } finally {
      const next = this.#queue.take((waiting) => (waiting.signal?.aborted === true ? "drop" : "take"));
      if (next === undefined) this.#running -= 1;
      else next.begin(); // it takes the slot of this run
    }
  }

  #waitForSlot(schedulingKey: SchedulingKey, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        signal,
        begin: () => {
          removeAbortListener(signal, leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.#queue.remove(schedulingKey, waiting);
        if (signal !== undefined) reject(abortError(signal));
      };
      addAbortListener(signal, leave);
      this.#queue.add(schedulingKey, waiting);
    });
  }
}
