/**
 * A work queue in shared memory: one kernel call at a time, divided into chunks of pieces that threads take.
 *
 * One word, the work counter, holds the number of the call and the index of the next free chunk. Incrementing it by compare-and-exchange takes that
 * chunk. No thread waits for one that has not started: on a busy machine the caller computes all chunks itself. The increment fails if another call has
 * been opened since. The arguments of a call are written only while the counter is closed, that is, while its chunk index has the maximum value, so that
 * they do not change before the chunks that were taken are complete: a thread reads them once, after it has taken its first chunk.
 */
import { at } from "../../contract/checked.ts";
import { type CompiledKernel, callKernel } from "../codegen/wasm/kernel.ts";

const words = {
  workCounter: 0,
  /** Number of chunks of the call that are complete. */
  done: 1,
  /** Number of threads that sleep until the work counter changes. */
  sleeping: 2,
  /** Bitwise or of the chunks' statuses. */
  status: 3,
  /** Number of messages posted to each thread. A thread that has received fewer leaves its loop to receive the rest. */
  messageCount: 4,
  kernel: 5,
  pieces: 6,
  chunkPieces: 7,
  chunks: 8,
  /** Bytes of scratch memory per thread: the last offset of thread t is increased by t times this number. */
  scratchStride: 9,
  offsetCount: 10,
  offsets: 11,
} as const;

const maxOffsets = 32;
const chunkBits = 6;
const closed = 2 ** chunkBits - 1;

/** Polls of a word between two reads of the clock. */
const pollsPerClockCheck = 64;

/** Maximum number of chunks that one call can be divided into. The counter of chunks reserves the next value to mark a finished call. */
export const maxChunks: number = closed - 1;
/** Status bit of a call whose kernel trapped (a WebAssembly runtime error). The content of its outputs is then undefined. */
export const trapped: number = 1 << 30;

/** A kernel call that several threads compute together. */
export interface SharedCall {
  /** Index of the kernel, in the order in which kernels were added to the pool. */
  readonly kernel: number;
  /** Arguments of the kernel except the range of pieces: dynamic sizes, then byte offsets. */
  readonly offsets: readonly number[];
  /** Number of pieces of the call. */
  readonly pieces: number;
  /** Number of pieces of a chunk; the last chunk may have fewer. There are at most `maxChunks` chunks. */
  readonly chunkPieces: number;
  /** Bytes of scratch memory per thread; 0 for kernels without scratch memory. */
  readonly scratchStride: number;
}

/** Arrays for the arguments of kernel calls: one for each number of offsets, since allocating one per call costs as much as the call of a short kernel. */
export class ArgumentArrays {
  readonly #arrays: number[][] = [];

  /** The array for the arguments of a call with this many offsets, which are followed by the range of pieces. It is overwritten by the next such call. */
  get(offsets: number): number[] {
    return (this.#arrays[offsets] ??= Array.from({ length: offsets + 2 }, () => 0));
  }
}

/** One thread's view of the work queue in shared memory: threads take chunks of the current call from it until none is left. */
export class WorkQueue {
  /** The shared memory of the queue, to be passed to other threads. */
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #arrays = new ArgumentArrays();
  /** Arguments of the kernel of the call with the number `#argumentsOf`; the last two are the range of pieces. */
  #arguments: number[] = [];
  #argumentsOf = -1;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer((words.offsets + maxOffsets) * 4)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
    if (this.#load("chunks") === 0 && this.#load("workCounter") === 0) Atomics.store(this.#words, words.workCounter, closed);
  }

  /** Number of messages posted to each thread. */
  get messageCount(): number {
    return this.#load("messageCount");
  }

  /** Whether the queue can hold a call with these arguments: at most 32. */
  static fits(offsets: readonly number[]): boolean {
    return offsets.length <= maxOffsets;
  }

  /** Starts a call. Threads may take its chunks from now on. The previous call must be closed. */
  open(call: SharedCall): void {
    const { kernel, offsets, pieces, chunkPieces, scratchStride } = call;
    const shared = this.#words;
    for (let index = 0; index < offsets.length; index += 1) shared[words.offsets + index] = at(offsets, index);
    shared[words.kernel] = kernel;
    shared[words.pieces] = pieces;
    shared[words.chunkPieces] = chunkPieces;
    shared[words.chunks] = Math.ceil(pieces / chunkPieces);
    shared[words.scratchStride] = scratchStride;
    shared[words.offsetCount] = offsets.length;
    Atomics.store(this.#words, words.status, 0);
    Atomics.store(this.#words, words.done, 0);
    this.#publish(0);
  }

  /** Ends a call whose chunks are all computed, and returns the bitwise or of their statuses. */
  close(): number {
    Atomics.store(this.#words, words.workCounter, this.#load("workCounter") | closed);
    return this.#load("status");
  }

  /** Whether any thread sleeps, so that `open` would have to wake it. */
  get hasSleepers(): boolean {
    return this.#load("sleeping") > 0;
  }

  /** Blocks the caller until all chunks of the call are computed. Spins for `spinMs` milliseconds, then sleeps. */
  waitForOthers(spinMs: number): void {
    const chunks = this.#load("chunks");
    if (spinUntil(() => this.#load("done") === chunks, spinMs)) return;
    for (let done = this.#load("done"); done !== chunks; done = this.#load("done")) Atomics.wait(this.#words, words.done, done);
  }

  /** Takes and computes chunks of the open call until none is left. `thread` is the index of this thread; 0 is the calling thread. */
  takeChunks(kernels: readonly CompiledKernel[], thread: number): void {
    for (let counter = this.#load("workCounter"); ;) {
      const chunk = counter & closed;
      const chunks = this.#load("chunks");
      if (chunk >= chunks) return;
      const kernel = kernels[this.#load("kernel")];
      if (kernel === undefined) return;
      const found = Atomics.compareExchange(this.#words, words.workCounter, counter, counter + 1);
      if (found === counter) {
        if (this.#argumentsOf !== counter >> chunkBits) this.#readArguments(counter >> chunkBits, thread);
        this.#compute(kernel, this.#chunkArguments(chunk), chunks);
      }
      counter = this.#load("workCounter");
    }
  }

  /** Blocks until a call is opened or the message count differs from `messagesSeen`. Spins for `spinMs` milliseconds, then sleeps. */
  waitForWork(spinMs: number, messagesSeen: number): void {
    const counter = this.#load("workCounter");
    if (spinUntil(() => this.#load("workCounter") !== counter || this.messageCount !== messagesSeen, spinMs)) return;
    Atomics.add(this.#words, words.sleeping, 1);
    if (this.messageCount === messagesSeen) Atomics.wait(this.#words, words.workCounter, counter);
    Atomics.sub(this.#words, words.sleeping, 1);
  }

  /** Increments the message count and wakes all threads, so that they leave their loop and receive the message posted to each of them. */
  announceMessage(): void {
    Atomics.add(this.#words, words.messageCount, 1);
    this.#publish(closed);
  }

  /** Advances the work counter to the next call, open at `chunk` or closed, and wakes sleeping threads. */
  #publish(chunk: number): void {
    const number = (this.#load("workCounter") >> chunkBits) + 1;
    Atomics.store(this.#words, words.workCounter, (number << chunkBits) | chunk);
    if (this.#load("sleeping") > 0) Atomics.notify(this.#words, words.workCounter);
  }

  /** Reads the arguments of the open call with this number, of which this thread has taken a chunk. */
  #readArguments(number: number, thread: number): void {
    const count = this.#load("offsetCount");
    const found = this.#arrays.get(count);
    this.#arguments = found;
    for (let index = 0; index < count; index += 1) found[index] = at(this.#words, words.offsets + index);
    if (count > 0) found[count - 1] = at(found, count - 1) + thread * this.#load("scratchStride");
    this.#argumentsOf = number;
  }

  #chunkArguments(chunk: number): readonly number[] {
    const found = this.#arguments;
    const size = this.#load("chunkPieces");
    found[found.length - 2] = chunk * size;
    found[found.length - 1] = Math.min((chunk + 1) * size, this.#load("pieces"));
    return found;
  }

  #compute(kernel: CompiledKernel, args: readonly number[], chunks: number): void {
    let status = trapped;
    try {
      status = callKernel(kernel, args);
    } finally {
      if (status !== 0) Atomics.or(this.#words, words.status, status);
      if (Atomics.add(this.#words, words.done, 1) + 1 === chunks) Atomics.notify(this.#words, words.done);
    }
  }

  #load(name: keyof typeof words): number {
    return Atomics.load(this.#words, words[name]);
  }
}

/** Polls a condition for `milliseconds` and returns whether it became true. Spinning avoids the latency of sleeping and waking. */
function spinUntil(isTrue: () => boolean, milliseconds: number): boolean {
  const end = performance.now() + milliseconds;
  do {
    for (let look = 0; look < pollsPerClockCheck; look += 1) if (isTrue()) return true;
  } while (performance.now() < end);
  return false;
}
