/**
 * Scheduling of runs on raw tensors: at most one run for each instance of the model at a time, in the order of a fair queue of
 * clients. Between two runs of one client, others that hold the model get a moment to bring theirs: their texts may still be tokenized.
 */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { abortError, throwIfAborted } from "../../contract/errors.ts";
import { FairQueue } from "./fair-queue.ts";
import type { SchedulingKey } from "./scheduling-key.ts";

interface Waiting {
  readonly signal: AbortSignal | undefined;
  readonly begin: () => void;
}

/** Maximum time in milliseconds that a client waits between its runs for those of others. */
const maxGapMs = 20;
/** Time in milliseconds after which a client that holds the model is not waited for: programs may hold one without a run. */
const maxHoldMs = 1000;
/** Interval of the checks for them, in milliseconds. */
const checkMs = 1;

/** Limits the concurrent runs of one model and orders waiting ones fairly. */
export class RunScheduler {
  readonly #queue = new FairQueue<Waiting>();
  readonly #holders = new Set<{ readonly client: string; readonly since: number }>();
  readonly #isBusy: () => boolean;
  #running = 0;

  /** `isBusy`: whether the model runs something, such as a batch of texts, which is not scheduled here. Default: never. */
  constructor(isBusy: () => boolean = () => false) {
    this.#isBusy = isBusy;
  }

  /** Says that a client holds the model and may run it soon, until the returned function is called. */
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

  /** The next run takes the slot of one that has ended. */
  #beginNext(): void {
    const next = this.#queue.take((waiting) => (waiting.signal?.aborted === true ? "drop" : "take"));
    if (next === undefined) this.#running -= 1;
    else next.begin();
  }

  /** Whether a client other than this one holds the model and has not brought a run yet. */
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
