/**
 * The words of shared memory through which threads agree on work, and how chunks of a call are taken.
 *
 * A call is cut into chunks of pieces. One word, the ticket, holds the call's number and the next free chunk; whoever raises it by one has
 * the chunk. So nobody waits for a thread that has not begun: on a busy machine the caller ends up computing everything itself, and what a
 * sleeping thread costs is nothing. What a chunk needs is read before the ticket is raised: raising it fails when the call has changed
 * since. The words of a call are written only while the ticket is closed.
 */
import type { KernelFunction } from "../codegen/wasm/kernel.ts";

const words = {
  ticket: 0,
  /** Chunks that are computed. */
  done: 1,
  /** Threads that wait for a ticket, and must be woken. */
  sleeping: 2,
  /** Statuses of the chunks, or-ed. */
  status: 3,
  /** Messages that were posted to each thread. A thread that has seen fewer leaves its loop to receive the others. */
  mail: 4,
  kernel: 5,
  pieces: 6,
  chunkPieces: 7,
  chunks: 8,
  /** What thread t adds to the last offset: t times this. */
  scratchStride: 9,
  offsetCount: 10,
  offsets: 11,
} as const;

const maxOffsets = 32;
const chunkBits = 6;
const closed = 2 ** chunkBits - 1;

/** Looks at a word of memory between two looks at the clock. */
const pollsPerClockCheck = 64;

/** Chunks of a call at most: their number must stay below that of a closed ticket. */
export const maxChunks: number = closed - 1;
/** A kernel trapped: its memory is not to be trusted. */
export const trapped: number = 1 << 30;

/** A call that is worth sharing. */
export interface SharedCall {
  /** Its number: kernels count in the order in which they were handed to the threads. */
  readonly kernel: number;
  readonly offsets: readonly number[];
  readonly pieces: number;
  readonly chunks: number;
  /** Bytes between the scratch memory of one thread and that of the next; 0 where the kernel takes none. */
  readonly scratchStride: number;
}

export class WorkQueue {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer((words.offsets + maxOffsets) * 4)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
    if (this.#load("chunks") === 0 && this.#load("ticket") === 0) Atomics.store(this.#words, words.ticket, closed);
  }

  get messageCount(): number {
    return this.#load("mail");
  }

  /** Whether a call with so many offsets fits. */
  static fits(offsets: readonly number[]): boolean {
    return offsets.length <= maxOffsets;
  }

  /** Opens a call: from now on its chunks may be taken. The last call must have ended. */
  open(call: SharedCall): void {
    const { kernel, offsets, pieces, chunks, scratchStride } = call;
    this.#words.set(offsets, words.offsets);
    this.#words.set([kernel, pieces, Math.ceil(pieces / chunks), chunks, scratchStride, offsets.length], words.kernel);
    Atomics.store(this.#words, words.status, 0);
    Atomics.store(this.#words, words.done, 0);
    this.#publish(0);
  }

  /** Closes the call, whose chunks are all done, and gives their statuses. */
  close(): number {
    Atomics.store(this.#words, words.ticket, this.#load("ticket") | closed);
    return this.#load("status");
  }

  /** Whether a thread sleeps, so that a call would have to wake it. */
  get hasSleepers(): boolean {
    return this.#load("sleeping") > 0;
  }

  /** Waits until all chunks are done: so many milliseconds awake, then asleep. */
  waitForOthers(awakeMs: number): void {
    const chunks = this.#load("chunks");
    if (spinUntil(() => this.#load("done") === chunks, awakeMs)) return;
    for (let done = this.#load("done"); done !== chunks; done = this.#load("done")) Atomics.wait(this.#words, words.done, done);
  }

  /** Takes chunks and computes them until none is left. `thread` is 0 for the caller. */
  takeChunks(kernels: readonly KernelFunction[], thread: number): void {
    for (let ticket = this.#load("ticket"); ;) {
      const chunk = ticket & closed;
      const chunks = this.#load("chunks");
      if (chunk >= chunks) return;
      const kernel = kernels[this.#load("kernel")];
      if (kernel === undefined) return;
      const job = this.#chunkArguments(chunk, thread);
      const found = Atomics.compareExchange(this.#words, words.ticket, ticket, ticket + 1);
      if (found === ticket) this.#compute(kernel, job, chunks);
      ticket = this.#load("ticket");
    }
  }

  /** Waits for the ticket to change: so many milliseconds awake, then asleep. Returns at once when there is mail. */
  waitForWork(awakeMs: number, mailSeen: number): void {
    const ticket = this.#load("ticket");
    if (spinUntil(() => this.#load("ticket") !== ticket || this.messageCount !== mailSeen, awakeMs)) return;
    Atomics.add(this.#words, words.sleeping, 1);
    if (this.messageCount === mailSeen) Atomics.wait(this.#words, words.ticket, ticket);
    Atomics.sub(this.#words, words.sleeping, 1);
  }

  /** A message was posted to every thread: those in their loop leave it. */
  announceMessage(): void {
    Atomics.add(this.#words, words.mail, 1);
    this.#publish(closed);
  }

  /** The next call's number, open or closed; those who sleep are woken. */
  #publish(chunk: number): void {
    const number = (this.#load("ticket") >> chunkBits) + 1;
    Atomics.store(this.#words, words.ticket, (number << chunkBits) | chunk);
    if (this.#load("sleeping") > 0) Atomics.notify(this.#words, words.ticket);
  }

  #chunkArguments(chunk: number, thread: number): number[] {
    const count = this.#load("offsetCount");
    const offsets = Array.from(this.#words.subarray(words.offsets, words.offsets + count));
    if (count > 0) offsets[count - 1] = (offsets[count - 1] ?? 0) + thread * this.#load("scratchStride");
    const size = this.#load("chunkPieces");
    const pieces = this.#load("pieces");
    return [...offsets, Math.min(chunk * size, pieces), Math.min((chunk + 1) * size, pieces)];
  }

  #compute(kernel: KernelFunction, job: readonly number[], chunks: number): void {
    let status = trapped;
    try {
      status = kernel(...job);
    } finally {
      if (status !== 0) Atomics.or(this.#words, words.status, status);
      if (Atomics.add(this.#words, words.done, 1) + 1 === chunks) Atomics.notify(this.#words, words.done);
    }
  }

  #load(name: keyof typeof words): number {
    return Atomics.load(this.#words, words[name]);
  }
}

/** Looks again and again for so long, and gives whether it came true: falling asleep and being woken takes far longer than a look. */
function spinUntil(isTrue: () => boolean, milliseconds: number): boolean {
  const end = performance.now() + milliseconds;
  do {
    for (let look = 0; look < pollsPerClockCheck; look += 1) if (isTrue()) return true;
  } while (performance.now() < end);
  return false;
}
