/**
 * Threads that help with the calls of kernels. A call returns when all of it is computed; its result is the same to the bit with any number
 * of threads, because pieces do not depend on each other. The caller must be allowed to sleep: in a page it is a worker itself.
 */
import { InferyardError } from "../../errors.ts";
import type { WasmMemory } from "../emit/wasm/assembler/webassembly.ts";
import type { CompiledKernels } from "../emit/wasm/compile.ts";
import type { Kernel, KernelFunction } from "../emit/wasm/kernel.ts";
import { Control, mostChunks, trapped } from "./control.ts";
import type { ThreadMessage } from "./thread.ts";

/** A started worker, as a platform gives it. It must not keep the program alive. */
export interface ThreadPeer {
  post(message: ThreadMessage): void;
  end(): Promise<void>;
}

export interface KernelThreadsOptions {
  /** Threads that compute, the caller among them: 1 starts none. */
  readonly threads: number;
  /** Shared: plain memory cannot be seen by others. */
  readonly memory: WasmMemory;
  /** Starts a worker that runs `kernelThread`. */
  spawn(): ThreadPeer;
}

/** Chunks for each thread: more even out threads that are held up, and each costs a microsecond. */
const chunksPerThread = 4;
/** Some microseconds until the caller sleeps. */
const spins = 4000;
/** Calls that are computed alone after one in which others held the caller up; doubled each time, up to the most. */
const leastAlone = 8;
const mostAlone = 1024;
/** Waiting for so long, or half as long as the caller itself computed, is as it should be. */
const fairWaitMs = 0.02;

export class KernelThreads {
  readonly #control = new Control();
  readonly #memory: WasmMemory;
  readonly #peers: readonly ThreadPeer[];
  readonly #kernels: KernelFunction[] = [];
  readonly #numbers = new Map<string, number>();
  /** Calls still to be computed alone, and how many it will be the next time. */
  #alone = 0;
  #nextAlone: number = leastAlone;

  constructor({ threads, memory, spawn }: KernelThreadsOptions) {
    if (threads > 1 && memory.buffer instanceof ArrayBuffer)
      throw new InferyardError("CONTRACT_VIOLATION", "threads need shared memory, and this one is not");
    this.#memory = memory;
    this.#peers = Array.from({ length: threads - 1 }, () => spawn());
  }

  /** The threads learn a module's kernels. Until they have, the caller computes alone. */
  add({ module, functions }: CompiledKernels): void {
    for (const [key, kernel] of functions) {
      this.#numbers.set(key, this.#kernels.length);
      this.#kernels.push(kernel);
    }
    const control = this.#control.buffer;
    this.#peers.forEach((peer, index) => peer.post({ control, thread: index + 1, memory: this.#memory, module }));
    this.#control.announceMail();
  }

  /**
   * Computes a call of a kernel that was added, and gives its status. A kernel that takes scratch memory needs it once for each thread:
   * the last offset is the first thread's, the others' follow, `scratchStride` bytes apart.
   */
  run(kernel: Kernel, offsets: readonly number[], scratchStride: number = 0): number {
    const { pieces, grain } = kernel;
    const number = this.#numbers.get(kernel.key);
    const call = number === undefined ? undefined : this.#kernels[number];
    if (number === undefined || call === undefined)
      throw new InferyardError("CONTRACT_VIOLATION", `the kernel ${kernel.key} was not added to the threads`);
    const threads = this.#peers.length + 1;
    const chunks = Math.min(Math.floor(pieces / grain), threads * chunksPerThread, mostChunks);
    if (threads === 1 || chunks < 2 || !Control.fits(offsets) || this.#isAlone())
      return this.#guarded(kernel, () => call(...offsets, 0, pieces));
    const started = performance.now();
    this.#control.open({ kernel: number, offsets, pieces, chunks, scratchStride });
    let failure: unknown;
    try {
      this.#control.takeChunks(this.#kernels, 0);
    } catch (error) {
      failure = error;
      this.#takeRest();
    }
    const computed = performance.now();
    this.#control.waitForOthers(spins);
    this.#learn(computed - started, performance.now() - computed);
    const status = this.#control.close();
    if ((status & trapped) === 0) return status;
    throw trapError(kernel, failure);
  }

  /** Ends the threads. No call may be running. */
  async end(): Promise<void> {
    await Promise.all(this.#peers.map((peer) => peer.end()));
  }

  /** On a busy machine a thread may be put aside in the middle of a chunk, and everybody waits: then the caller does without for a while. */
  #learn(computedMs: number, waitedMs: number): void {
    if (waitedMs <= Math.max(fairWaitMs, computedMs / 2)) {
      this.#nextAlone = leastAlone;
      return;
    }
    this.#alone = this.#nextAlone;
    this.#nextAlone = Math.min(this.#nextAlone * 2, mostAlone);
  }

  #guarded(kernel: Kernel, call: () => number): number {
    try {
      return call();
    } catch (error) {
      throw trapError(kernel, error);
    }
  }

  #isAlone(): boolean {
    if (this.#alone === 0) return false;
    this.#alone -= 1;
    return true;
  }

  /** After a trap: the other chunks are computed or trap as well, so that all are counted. */
  #takeRest(): void {
    for (;;) {
      try {
        this.#control.takeChunks(this.#kernels, 0);
        return;
      } catch {
        // Counted by the chunk itself.
      }
    }
  }
}

function trapError(kernel: Kernel, cause: unknown): InferyardError {
  return new InferyardError("RUN_FAILED", `the kernel ${kernel.family} trapped`, { cause });
}
