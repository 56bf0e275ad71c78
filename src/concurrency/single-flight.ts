/** Work that several callers wait for: begun by the first, cancelled when the last has left. */
import { throwIfAborted } from "../errors.ts";
import { abortable } from "./abortable.ts";

interface Task<Result> {
  readonly result: Promise<Result>;
  readonly controller: AbortController;
  waiting: number;
}

export class SingleFlight<Result> {
  readonly #tasks = new Map<string, Task<Result>>();
  readonly #free: (result: Result) => void;

  /** `free`: called with the result of a task when every caller has taken what it wants of it, or has left. */
  constructor(free: (result: Result) => void) {
    this.#free = free;
  }

  has(key: string): boolean {
    return this.#tasks.has(key);
  }

  /**
   * Waits for the task with this key, which `begin` starts where there is none; `take` is called with its result before `free` is. A caller
   * who cancels stops waiting. Throws what the task throws, and ABORTED.
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

  /** The next caller begins anew, and need not wait until a cancelled task has ended. */
  #end(key: string, task: Task<Result>): void {
    this.#forget(key, task);
    task.controller.abort();
    task.result.then(this.#free, () => {}); // the callers have had the error
  }

  #forget(key: string, task: Task<Result>): void {
    if (this.#tasks.get(key) === task) this.#tasks.delete(key);
  }
}
