/** Runs of one model on raw tensors: as many at a time as the model has replicas, in the order of a fair queue of clients. */
import { abortError, throwIfAborted } from "../../errors.ts";
import { FairQueue } from "./fair-queue.ts";
import type { SchedulingKey } from "./scheduling-key.ts";

interface Waiting {
  readonly signal: AbortSignal | undefined;
  readonly begin: () => void;
}

export class RunScheduler {
  readonly #queue = new FairQueue<Waiting>();
  #running = 0;

  /** Waits for a turn of the client and does the work in it. `limit`: runs at a time. Throws ABORTED while it waits. */
  async run<Result>(
    turn: SchedulingKey,
    limit: number,
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    throwIfAborted(signal);
    if (this.#running < limit) this.#running += 1;
    else await this.#waitForSlot(turn, signal);
    try {
      throwIfAborted(signal);
      return await work();
    } finally {
      const next = this.#queue.take((waiting) => (waiting.signal?.aborted === true ? "drop" : "take"));
      if (next === undefined) this.#running -= 1;
      else next.begin(); // it takes over the place of this run
    }
  }

  #waitForSlot(turn: SchedulingKey, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        signal,
        begin: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.#queue.remove(turn, waiting);
        if (signal !== undefined) reject(abortError(signal));
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#queue.add(turn, waiting);
    });
  }
}
