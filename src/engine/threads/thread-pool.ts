/**
 * Threads that help with the calls of kernels. A call returns when all of it is computed; its result is the same to the bit with any number
 * of threads, because pieces do not depend on each other. The caller must be allowed to sleep: in a page it is a worker itself.
 */
import { InferyardError } from "../../errors.ts";
import type { WasmMemory } from "../codegen/wasm/assembler/webassembly.ts";
import type { CompiledKernels } from "../codegen/wasm/compile.ts";
import type { KernelCall, KernelFunction } from "../codegen/wasm/kernel.ts";
import { WorkQueue, maxChunks, trapped } from "./work-queue.ts";
import { KernelTimings } from "./kernel-timings.ts";
import { ParallelismGovernor } from "./parallelism-governor.ts";
import type { ThreadMessage } from "./worker-loop.ts";

/** A started worker, as a platform gives it. It must not keep the program alive. */
export interface ThreadHandle {
  post(message: ThreadMessage): void;
  end(): Promise<void>;
}

export interface ThreadPoolOptions {
  /** Threads that compute, the caller among them: 1 starts none. */
  readonly threads: number;
  /** Shared: plain memory cannot be seen by others. */
  readonly memory: WasmMemory;
  /** Starts a worker that runs `kernelThread`. */
  spawn(): ThreadHandle;
  /** Says whether calls are to be shared. Default: as long as it pays. */
  readonly governor?: Pick<ParallelismGovernor, "record" | "prefersSerial">;
}

/** The least work that is a chunk: taking one costs a microsecond, and the last ones even out what threads are behind one another. */
const minChunkNanoseconds = 10_000;
/** The least work that threads are woken for: until they are awake, half of it is done. */
const minWakingNanoseconds = 100_000;
/** Until the caller sleeps, and leaves the processor to who keeps it waiting. */
const spinMs = 0.1;

export class ThreadPool {
  readonly #queue = new WorkQueue();
  readonly #memory: WasmMemory;
  readonly #threads: readonly ThreadHandle[];
  readonly #kernels: KernelFunction[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #timings = new KernelTimings();
  readonly #governor: Pick<ParallelismGovernor, "record" | "prefersSerial">;

  constructor({ threads, memory, spawn, governor = new ParallelismGovernor() }: ThreadPoolOptions) {
    if (threads > 1 && memory.buffer instanceof ArrayBuffer)
      throw new InferyardError("CONTRACT_VIOLATION", "threads need shared memory, and this one is not");
    this.#memory = memory;
    this.#governor = governor;
    this.#threads = Array.from({ length: threads - 1 }, () => spawn());
  }

  /** The threads learn a module's kernels. Until they have, the caller computes alone. */
  add({ module, functions }: CompiledKernels): void {
    for (const [key, kernel] of functions) {
      this.#numbers.set(key, this.#kernels.length);
      this.#kernels.push(kernel);
    }
    const control = this.#queue.buffer;
    this.#threads.forEach((peer, index) => peer.post({ control, thread: index + 1, memory: this.#memory, module }));
    this.#queue.announceMessage();
  }

  /**
   * Computes a call of a kernel that was added, and gives its status. A kernel that takes scratch memory needs it once for each thread:
   * the last offset is the first thread's, the others' follow, `scratchStride` bytes apart.
   */
  run(kernel: KernelCall, offsets: readonly number[], scratchStride: number = 0): number {
    const number = this.#numbers.get(kernel.key);
    const call = number === undefined ? undefined : this.#kernels[number];
    if (number === undefined || call === undefined)
      throw new InferyardError("CONTRACT_VIOLATION", `the kernel ${kernel.key} was not added to the threads`);
    const { pieces } = kernel;
    const chunks = this.#chunks(kernel, offsets);
    if (chunks < 2) return this.#runSerially(kernel, () => call(...offsets, 0, pieces));
    const started = performance.now();
    this.#queue.open({ kernel: number, offsets, pieces, chunks, scratchStride });
    let failure: unknown;
    try {
      this.#queue.takeChunks(this.#kernels, 0);
    } catch (error) {
      failure = error;
      this.#drainChunks();
    }
    this.#queue.waitForOthers(spinMs);
    this.#governor.record(performance.now() - started, this.#timings.milliseconds(kernel));
    const status = this.#queue.close();
    if ((status & trapped) === 0) return status;
    throw trapError(kernel, failure);
  }

  /** Ends the threads. No call may be running. */
  async end(): Promise<void> {
    await Promise.all(this.#threads.map((peer) => peer.end()));
  }

  /** What a call is cut into: one chunk where sharing it would not pay. */
  #chunks(kernel: KernelCall, offsets: readonly number[]): number {
    const { pieces, pieceNanoseconds } = kernel;
    const work = pieces * pieceNanoseconds;
    const chunks = Math.min(pieces, maxChunks, Math.floor(work / minChunkNanoseconds));
    if (this.#threads.length === 0 || chunks < 2 || !WorkQueue.fits(offsets)) return 1;
    if (work < minWakingNanoseconds && this.#queue.hasSleepers) return 1;
    if (this.#governor.prefersSerial || !this.#timings.isMeasured(kernel)) return 1;
    return Math.ceil(pieces / Math.ceil(pieces / chunks)); // none is empty
  }

  #runSerially(kernel: KernelCall, call: () => number): number {
    try {
      if (this.#threads.length === 0) return call();
      const started = performance.now();
      const status = call();
      this.#timings.record(kernel, performance.now() - started);
      return status;
    } catch (error) {
      throw trapError(kernel, error);
    }
  }

  /** After a trap: the other chunks are computed or trap as well, so that all are counted. */
  #drainChunks(): void {
    for (;;) {
      try {
        this.#queue.takeChunks(this.#kernels, 0);
        return;
      } catch {
        // Counted by the chunk itself.
      }
    }
  }
}

function trapError(kernel: KernelCall, cause: unknown): InferyardError {
  return new InferyardError("RUN_FAILED", `the kernel ${kernel.family} trapped`, { cause });
}
