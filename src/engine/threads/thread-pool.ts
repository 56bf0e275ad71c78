/**
 * A pool of threads that compute kernel calls in parallel. A call blocks until all of it is computed. Results are bit-identical for any number of
 * threads, because pieces of a call are independent. The calling thread must be allowed to block, so in a browser it must be a worker.
 */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { WasmMemory } from "../codegen/wasm/assembler/webassembly.ts";
import type { CompiledKernels } from "../codegen/wasm/compile.ts";
import type { KernelCall, CompiledKernel } from "../codegen/wasm/kernel.ts";
import { WorkQueue, maxChunks, trapped } from "./work-queue.ts";
import { KernelTimings } from "./kernel-timings.ts";
import { ParallelismGovernor } from "./parallelism-governor.ts";
import type { ThreadMessage } from "./worker-loop.ts";

/** A running worker thread, as the platform provides it. It must not keep the process alive. */
export interface ThreadHandle {
  /** Sends a message to the thread. */
  post(message: ThreadMessage): void;
  /** Terminates the thread. */
  end(): Promise<void>;
}

/** Settings of a thread pool: its threads, their memory, and how a thread is started. */
export interface ThreadPoolOptions {
  /** Number of threads that compute, including the calling thread. With 1, no thread is started. */
  readonly threads: number;
  /** The memory that kernels compute in. Must be a shared memory if `threads` is above 1. */
  readonly memory: WasmMemory;
  /** Starts a thread that runs `createWorkerLoop`. */
  spawn(): ThreadHandle;
  /** Decides whether calls run in parallel. Default: a new `ParallelismGovernor`. */
  readonly governor?: Pick<ParallelismGovernor, "record" | "prefersSerial">;
}

/** Minimum work of one chunk in nanoseconds. Taking a chunk costs about a microsecond; small chunks balance the load at the end of a call. */
const minChunkNanoseconds = 10_000;
/** Minimum work in nanoseconds of a call that wakes sleeping threads: waking takes about half as long. */
const minWakingNanoseconds = 100_000;
/** Milliseconds that the calling thread spins while it waits for other threads, before it sleeps. */
const spinMs = 0.1;

/** The worker threads of one loaded model and the kernels compiled on them. Runs a kernel call on all threads. */
export class ThreadPool {
  readonly #queue = new WorkQueue();
  readonly #memory: WasmMemory;
  readonly #threads: readonly ThreadHandle[];
  readonly #kernels: CompiledKernel[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #timings = new KernelTimings();
  readonly #governor: Pick<ParallelismGovernor, "record" | "prefersSerial">;

  constructor({ threads, memory, spawn, governor = new ParallelismGovernor() }: ThreadPoolOptions) {
    if (threads > 1 && memory.buffer instanceof ArrayBuffer)
      throw new InferyardError("CONTRACT_VIOLATION", "more than one thread needs shared memory, and this memory is not shared");
    this.#memory = memory;
    this.#governor = governor;
    this.#threads = Array.from({ length: threads - 1 }, () => spawn());
  }

  /** Sends compiled kernels to all threads, which instantiate them. Until the threads have received them, the calling thread computes alone. */
  add({ module, functions, machineCode }: CompiledKernels): void {
    for (const [key, kernel] of functions) {
      this.#numbers.set(key, this.#kernels.length);
      this.#kernels.push(kernel);
    }
    const control = this.#queue.buffer;
    const content = { control, memory: this.#memory, module, ...omitUndefined({ machineCode }) };
    this.#threads.forEach((peer, index) => peer.post({ ...content, thread: index + 1 }));
    this.#queue.announceMessage();
  }

  /**
   * Runs one call of a kernel that was added and returns its status. The last offset of a kernel with scratch memory is the offset for the first thread; thread
   * t uses it plus t times `scratchStride` bytes. Throws CONTRACT_VIOLATION for an unknown kernel and RUN_FAILED when it traps.
   */
  run(kernel: KernelCall, offsets: readonly number[], scratchStride: number = 0): number {
    const number = this.#numbers.get(kernel.key);
    const call = number === undefined ? undefined : this.#kernels[number];
    if (number === undefined || call === undefined)
      throw new InferyardError("CONTRACT_VIOLATION", `the kernel ${kernel.key} was not added to the thread pool`);
    const { pieces } = kernel;
    const chunks = this.#threads.length === 0 ? 1 : this.#chunks(kernel, offsets);
    if (chunks < 2) return this.#runSerially(kernel, call, offsets);
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

  /** Terminates the threads. Must not be called while a kernel call runs. */
  async end(): Promise<void> {
    await Promise.all(this.#threads.map((peer) => peer.end()));
  }

  /** Number of chunks a call is divided into among several threads; 1 when parallel execution would not pay. */
  #chunks(kernel: KernelCall, offsets: readonly number[]): number {
    const { pieces, pieceNanoseconds } = kernel;
    const work = pieces * pieceNanoseconds;
    const chunks = Math.min(pieces, maxChunks, Math.floor(work / minChunkNanoseconds));
    if (chunks < 2 || !WorkQueue.fits(offsets)) return 1;
    if (work < minWakingNanoseconds && this.#queue.hasSleepers) return 1;
    if (this.#governor.prefersSerial || !this.#timings.isMeasured(kernel)) return 1;
    return Math.ceil(pieces / Math.ceil(pieces / chunks)); // so that no chunk is empty
  }

  #runSerially(kernel: KernelCall, call: CompiledKernel, offsets: readonly number[]): number {
    try {
      if (this.#threads.length === 0) return call(...offsets, 0, kernel.pieces);
      const started = performance.now();
      const status = call(...offsets, 0, kernel.pieces);
      this.#timings.record(kernel, performance.now() - started);
      return status;
    } catch (error) {
      throw trapError(kernel, error);
    }
  }

  /** After a trap: takes the remaining chunks, which are computed or trap as well, so that the call completes. */
  #drainChunks(): void {
    for (;;) {
      try {
        this.#queue.takeChunks(this.#kernels, 0);
        return;
      } catch {
        // The chunk has recorded the trap in the status.
      }
    }
  }
}

function trapError(kernel: KernelCall, cause: unknown): InferyardError {
  return new InferyardError("RUN_FAILED", `the kernel ${kernel.family} trapped`, { cause });
}
