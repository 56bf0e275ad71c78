/**
 * A pool of threads that compute kernel calls in parallel. A call blocks until all of it is computed. Results are bit-identical for any number of
 * threads, because pieces of a call are independent. The calling thread must be allowed to block, so in a browser it must be a worker.
 */
import { at, omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { WasmMemory } from "../codegen/wasm/assembler/webassembly.ts";
import type { CompiledKernels } from "../codegen/wasm/compile.ts";
import { type KernelCall, type CompiledKernel, callKernel } from "../codegen/wasm/kernel.ts";
import { ArgumentArrays, WorkQueue, maxChunks, trapped } from "./work-queue.ts";
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

/** Minimum measured duration of one chunk in milliseconds. Taking a chunk costs about half a microsecond; small chunks balance the load at the end of a call. */
const minChunkMs = 0.004;
/** Minimum measured duration in milliseconds of a call that wakes sleeping threads: waking takes about half as long. */
const minWakingMs = 0.06;
/** Read once, since reading the global of Node.js calls a function. */
const clock = performance;
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
  readonly #arguments = new ArgumentArrays();
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
    const chunkPieces = this.#threads.length === 0 ? pieces : this.#chunkPieces(kernel, offsets);
    if (chunkPieces >= pieces) return this.#runSerially(kernel, call, offsets);
    const started = clock.now();
    this.#queue.open({ kernel: number, offsets, pieces, chunkPieces, scratchStride });
    let failure: unknown;
    try {
      this.#queue.takeChunks(this.#kernels, 0);
    } catch (error) {
      failure = error;
      this.#drainChunks();
    }
    this.#queue.waitForOthers(spinMs);
    this.#governor.record(clock.now() - started, this.#timings.milliseconds(kernel));
    const status = this.#queue.close();
    if ((status & trapped) === 0) return status;
    throw trapError(kernel, failure);
  }

  /** Terminates the threads. Must not be called while a kernel call runs. */
  async end(): Promise<void> {
    await Promise.all(this.#threads.map((peer) => peer.end()));
  }

  /**
   * Pieces of a chunk where a call is divided among several threads: a multiple of `tilePieces` unless there would be fewer chunks than threads. All pieces
   * when parallel execution would not pay. Chunks are as small as their overhead allows, so that a thread that the system interrupts holds up little work.
   */
  #chunkPieces(kernel: KernelCall, offsets: readonly number[]): number {
    const { pieces, tilePieces } = kernel;
    if (pieces < 2 || !WorkQueue.fits(offsets) || !this.#timings.isMeasured(kernel)) return pieces;
    const milliseconds = this.#timings.milliseconds(kernel);
    const most = Math.min(maxChunks, Math.floor(milliseconds / minChunkMs));
    if (most < 2 || (milliseconds < minWakingMs && this.#queue.hasSleepers) || this.#governor.prefersSerial) return pieces;
    const tiles = Math.ceil(pieces / tilePieces);
    const unit = tiles <= this.#threads.length ? 1 : tilePieces;
    return Math.ceil(pieces / unit / most) * unit;
  }

  #runSerially(kernel: KernelCall, call: CompiledKernel, offsets: readonly number[]): number {
    try {
      const all = this.#arguments.get(offsets.length);
      for (let index = 0; index < offsets.length; index += 1) all[index] = at(offsets, index);
      all[offsets.length] = 0;
      all[offsets.length + 1] = kernel.pieces;
      if (this.#threads.length === 0) return callKernel(call, all);
      const started = clock.now();
      const status = callKernel(call, all);
      this.#timings.record(kernel, clock.now() - started);
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
