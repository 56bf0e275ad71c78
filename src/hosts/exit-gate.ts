/**
 * Lets a program end in the middle of a run with its own exit code.
 *
 * A process that exits while another thread is inside a native engine is torn down under that engine and aborts (code 134). The gate
 * is two words of shared memory: the worker raises BUSY around native calls, the main thread raises STOP when the process exits and
 * waits, for a bounded time, until the worker is between calls; a worker that sees STOP never enters another one. A program with a worker that does
 * not come back ends by SIGKILL: its threads cannot be joined.
 */

const BUSY = 0;
const STOP = 1;

/** A run that takes longer than this at exit is given up on. */
const maxWaitMs = 10_000;
/** The same for a worker that hung before. */
const maxHungWaitMs = 500;

/** The worker's side. */
export class WorkerGate {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** Runs `work` as a call the process must not exit under. */
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

  /** The process is exiting: stay out of native code for good. */
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

  /** Memory for a new worker's gate. */
  open(): SharedArrayBuffer {
    if (this.#gates.size === 0) this.#listen();
    const memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
    this.#gates.add(new Int32Array(memory));
    return memory;
  }

  /** The worker may never come back: the process does not wait long for it. */
  markHung(memory: SharedArrayBuffer): void {
    for (const words of this.#gates) if (words.buffer === memory) this.#hung.add(words);
  }

  /** Forgets the gate of a worker that has ended. */
  close(memory: SharedArrayBuffer): void {
    for (const words of this.#gates) {
      if (words.buffer !== memory) continue;
      this.#gates.delete(words);
      this.#hung.delete(words);
    }
    if (this.#gates.size === 0) this.#unlisten();
  }

  /**
   * Every host has one listener: many runtimes in one process are not the leak that Node.js would warn of. It comes before all others, so
   * that whoever tidies up at exit finds the workers at rest.
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
