/**
 * Merging of concurrent calls with the same key, as golang.org/x/sync/singleflight does: the first caller starts the work, and
 * it is aborted when the last caller has left.
 */
import { throwIfAborted } from "../contract/errors.ts";
import { abortable } from "./abortable.ts";

interface Task<Result> {
  readonly result: Promise<Result>;
  readonly controller: AbortController;
  waiting: number;
}

/** Runs one task for each key at a time, shared by all callers that join it. */
export class SingleFlight<Result> {
  readonly #tasks = new Map<string, Task<Result>>();
  readonly #free: (result: Result) => void;

  /** `free`: called with the result after every caller has taken what it wants of it, or has left. */
  constructor(free: (result: Result) => void) {
    this.#free = free;
  }

  /** Whether a task with this key is in progress. */
  has(key: string): boolean {
    return this.#tasks.has(key);
  }

  /**
   * Waits for the task with this key, which `begin` starts if there is none, and returns `take(result)`; `take` is called before `free`. A caller that aborts
   * stops waiting. Throws errors of the task, and ABORTED.
   */
  async join<Taken>(
    key: string,
    begin: (signal: AbortSignal) => Promise<Result>,
    take: (result: Result) => Taken,
    signal?: AbortSignal,
  ): Promise<Taken> {
    throwIfAborted(signal);
    const task = this.#tasks.get(key) ?? this.#begin(key, begin);
    task.waiting += 1;
    try {
      return take(await abortable(task.result, signal));
    } finally {
      task.waiting -= 1;
      if (task.waiting === 0) this.#end(key, task);
    }
  }

  #begin(key: string, begin: (signal: AbortSignal) => Promise<Result>): Task<Result> {
    const controller = new AbortController();
    const task = { result: begin(controller.signal), controller, waiting: 0 };
    this.#tasks.set(key, task);
    const forget = (): void => this.#forget(key, task);
    task.result.then(forget, forget);
    return task;
  }

  /** The next caller starts a new task and does not wait until an aborted one has ended. */
  #end(key: string, task: Task<Result>): void {
    this.#forget(key, task);
    task.controller.abort();
    task.result.then(this.#free, () => {}); // the callers have received the error
  }

  #forget(key: string, task: Task<Result>): void {
    if (this.#tasks.get(key) === task) this.#tasks.delete(key);
  }
}
