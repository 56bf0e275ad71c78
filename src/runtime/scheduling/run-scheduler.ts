/**
 * Scheduling of runs on tensors: at most one concurrent run per instance of the model, in the order of a fair queue of clients. Between two runs of
 * one client, the scheduler waits briefly for other clients that hold the model and are still preparing their runs, for example tokenizing.
 */
import { waitForTurn } from "../../concurrency/abortable.ts";
import { throwIfAborted } from "../../contract/errors.ts";
import { FairQueue } from "./fair-queue.ts";
import type { SchedulingKey } from "./scheduling-key.ts";

interface Waiting {
  readonly signal: AbortSignal | undefined;
  readonly begin: () => void;
}

/** Maximum pause in milliseconds between two runs of one client, in which other clients may submit runs. */
const maxGapMs = 20;
/** Time in milliseconds after which the scheduler stops waiting for a client that holds the model: programs may hold a model without running it. */
const maxHoldMs = 1000;
/** Interval in milliseconds at which a pause checks for submitted runs. */
const checkMs = 1;

/** Limits the concurrent runs of one model and orders waiting ones fairly. */
export class RunScheduler {
  readonly #queue = new FairQueue<Waiting>();
  readonly #holders = new Set<{ readonly client: string; readonly since: number }>();
  readonly #isBusy: () => boolean;
  #running = 0;

  /** `isBusy`: whether the model is running work that bypasses this scheduler, such as a batch of texts. Default: never. */
  constructor(isBusy: () => boolean = () => false) {
    this.#isBusy = isBusy;
  }

  /** Announces that a client holds the model and may run it soon. Call the returned function to withdraw. */
  hold(client: string): () => void {
    const holder = { client, since: performance.now() };
    this.#holders.add(holder);
    return () => void this.#holders.delete(holder);
  }

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
      if (this.#mayBringRuns(schedulingKey.client)) void this.#beginAfterOthers(schedulingKey.client);
      else this.#beginNext();
    }
  }

  /** Starts the next queued run in the slot of a run that has ended; frees the slot if the queue is empty. */
  #beginNext(): void {
    const next = this.#queue.take((waiting) => (waiting.signal?.aborted === true ? "drop" : "take"));
    if (next === undefined) this.#running -= 1;
    else next.begin();
  }

  /** Whether the scheduler should wait: another client holds the model and has no queued run. */
  #mayBringRuns(client: string): boolean {
    if (this.#isBusy() || !this.#queue.hasOnly(client)) return false;
    const oldest = performance.now() - maxHoldMs;
    return [...this.#holders].some((holder) => holder.client !== client && holder.since >= oldest);
  }

  async #beginAfterOthers(client: string): Promise<void> {
    const until = performance.now() + maxGapMs;
    while (this.#mayBringRuns(client) && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, checkMs));
    this.#beginNext();
  }

  #waitForSlot(schedulingKey: SchedulingKey, signal: AbortSignal | undefined): Promise<void> {
    return waitForTurn(signal, (begin) => {
      const waiting: Waiting = { signal, begin };
      this.#queue.add(schedulingKey, waiting);
      return () => this.#queue.remove(schedulingKey, waiting);
    });
  }
}
