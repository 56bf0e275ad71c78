/**
 * Lets a program exit during a run with its own exit code.
 *
 * If a process exits while another thread is inside a native engine, the engine is torn down and aborts (exit code 134). The
 * gate consists of two words of shared memory. The worker sets BUSY around native calls. On exit the main thread sets STOP and
 * waits, for a bounded time, until the worker is between calls; a worker that sees STOP enters no further call. If a worker
 * does not return, the process is ended by SIGKILL, since its threads cannot be joined.
 */

const BUSY = 0;
const STOP = 1;

/** Maximum milliseconds to wait for a run at exit. */
const maxWaitMs = 10_000;
/** Maximum milliseconds to wait at exit for a worker that hung before. */
const maxHungWaitMs = 500;

/** The worker's side of the gate. */
export class WorkerGate {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** Runs `work` as a call during which the process must not exit. */
  async guard<Result>(work: () => Promise<Result>): Promise<Result> {
    Atomics.store(this.#words, BUSY, 1);
    if (Atomics.load(this.#words, STOP) === 1) this.#park();
    try {
      return await work();
    } finally {
      this.#leave();
      if (Atomics.load(this.#words, STOP) === 1) this.#park();
    }
  }

  #leave(): void {
    Atomics.store(this.#words, BUSY, 0);
    Atomics.notify(this.#words, BUSY);
  }

  /** The process is exiting: blocks this thread for good, so that it enters no native code. */
  #park(): void {
    this.#leave();
    Atomics.wait(this.#words, STOP, 1);
  }
}

/** The main thread's side: one exit listener for all workers of a host. */
export class ExitGates {
  readonly #gates = new Set<Int32Array>();
  readonly #hung = new Set<Int32Array>();
  readonly #onExit = (): void => {
    for (const words of this.#gates) Atomics.store(words, STOP, 1);
    const begun = performance.now();
    for (const words of this.#gates) {
      const left = begun + (this.#hung.has(words) ? maxHungWaitMs : maxWaitMs) - performance.now();
      Atomics.wait(words, BUSY, 1, Math.max(left, 0));
      if (Atomics.load(words, BUSY) === 1) process.kill(process.pid, "SIGKILL");
    }
  };

  /** Allocates the shared memory of a new worker's gate. */
  open(): SharedArrayBuffer {
    if (this.#gates.size === 0) this.#listen();
    const memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
    this.#gates.add(new Int32Array(memory));
    return memory;
  }

  /** Marks a worker as hung: the process waits for it only briefly at exit. */
  markHung(memory: SharedArrayBuffer): void {
    for (const words of this.#gates) if (words.buffer === memory) this.#hung.add(words);
  }

  /** Removes the gate of a worker that has ended. */
  close(memory: SharedArrayBuffer): void {
    for (const words of this.#gates) {
      if (words.buffer !== memory) continue;
      this.#gates.delete(words);
      this.#hung.delete(words);
    }
    if (this.#gates.size === 0) this.#unlisten();
  }

  /**
   * Each host has one listener; the limit is raised, since many runtimes in one process are not the leak that Node.js would
   * warn of. The listener comes first, so that other exit handlers find the workers idle.
   */
  #listen(): void {
    if (process.getMaxListeners() > 0) process.setMaxListeners(process.getMaxListeners() + 1);
    process.prependListener("exit", this.#onExit);
  }

  #unlisten(): void {
    if (!process.listeners("exit").includes(this.#onExit)) return;
    process.off("exit", this.#onExit);
    if (process.getMaxListeners() > 0) process.setMaxListeners(process.getMaxListeners() - 1);
  }
}
