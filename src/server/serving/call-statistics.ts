/** Counts and times of the calls of each model since the server started. */
import type { CallRecord } from "./call-record.ts";

/** Number of occurrences of an event, and their total duration in milliseconds. */
export interface Duration {
  readonly count: number;
  readonly ms: number;
}

/** Statistics of one model, of the calls of all protocols. */
export interface ModelStatistics {
  /** Calls with a result, from their arrival to it. */
  readonly success: Duration;
  /** Calls that failed. */
  readonly fail: Duration;
  /** Waits of the calls that computed their result, for their turn. */
  readonly queue: Duration;
  /** Runs of those calls, from their turn to the result, loading included. */
  readonly compute: Duration;
  /** Calls that received the result of an equal call: a concurrent one, or one before it (see the setting `resultCacheBytes`). */
  readonly reused: number;
  /** Time of the end of the last run in milliseconds since 1970; 0 before the first. */
  readonly lastRunAt: number;
}

const zero: Duration = { count: 0, ms: 0 };
const none: ModelStatistics = { success: zero, fail: zero, queue: zero, compute: zero, reused: 0, lastRunAt: 0 };

const add = ({ count, ms }: Duration, more: number): Duration => ({ count: count + 1, ms: ms + more });

/** Adds up the records of calls by the name of their model. */
export class CallStatistics {
  readonly #byModel = new Map<string, ModelStatistics>();

  /** Counts a call. One that no model ran for, such as one for an unknown name, is left out. */
  add({ model, target, queueMs, inferenceMs, reuse, error }: CallRecord): void {
    if (target === undefined) return;
    const before = this.of(model);
    const total = queueMs + inferenceMs;
    const isRun = error === undefined && reuse === undefined;
    this.#byModel.set(model, {
      ...before,
      ...(error === undefined ? { success: add(before.success, total) } : { fail: add(before.fail, total) }),
      ...(reuse === undefined ? {} : { reused: before.reused + 1 }),
      ...(isRun ? { queue: add(before.queue, queueMs), compute: add(before.compute, inferenceMs), lastRunAt: Date.now() } : {}),
    });
  }

  /** The statistics of a model; all zero for one without calls. */
  of(model: string): ModelStatistics {
    return this.#byModel.get(model) ?? none;
  }
}
