/** A number of bytes that concurrent work shares. */
import { abortError, throwIfAborted } from "../contract/errors.ts";
import { addAbortListener, removeAbortListener } from "./abort-listeners.ts";

/** Gives reserved bytes back. Further calls have no effect. */
export type ReleaseBytes = () => void;

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

/** Bounds the bytes that concurrent work holds. Whoever finds too few free waits in the order of the calls, so that large reservations are not overtaken for ever. */
export class ByteBudget {
  /** Bytes that may be reserved at a time. */
  readonly limit: number;
  readonly #queue = new Set<Waiting>();
  #reserved = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes that are reserved now. */
  get reserved(): number {
    return this.#reserved;
  }

  /** Waits for `bytes`, at most `limit`, and reserves them. Rejects with ABORTED, and leaves the queue, when the signal is aborted. */
  async reserve(bytes: number, signal: AbortSignal | undefined): Promise<ReleaseBytes> {
    throwIfAborted(signal);
    if (bytes > this.limit) throw new RangeError(`${bytes} bytes of ${this.limit} cannot be reserved`);
    if (this.#queue.size > 0 || this.#reserved + bytes > this.limit) await this.#wait(bytes, signal);
    else this.#reserved += bytes;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#reserved -= bytes;
      this.#admit();
    };
  }

  #wait(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        if (signal === undefined) return;
        this.#queue.delete(waiting);
        reject(abortError(signal));
        this.#admit(); // what waited behind it may fit
      };
      const waiting: Waiting = {
        bytes,
        admit: () => {
          removeAbortListener(signal, abort);
          resolve();
        },
      };
      this.#queue.add(waiting);
      addAbortListener(signal, abort);
    });
  }

  /** Reserves for those who wait, as long as the first of them fits. */
  #admit(): void {
    for (const waiting of this.#queue) {
      if (this.#reserved + waiting.bytes > this.limit) return;
      this.#queue.delete(waiting);
      this.#reserved += waiting.bytes;
      waiting.admit();
    }
  }
}
