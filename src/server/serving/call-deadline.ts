/** Early end of a call: its client disconnects, or its timeout expires. */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { InferyardError } from "../../contract/errors.ts";

/** Conditions under which a call ends early. */
export interface CallDeadlineOptions {
  /** Aborted when the client disconnects. */
  readonly client: AbortSignal;
  readonly timeoutMs: number;
  /** Estimated waiting time in milliseconds if the client retries the call; sent as `retryAfterMs`. */
  readonly expectedWaitMs: () => number;
  /**
   * Resolves when a disconnection may be handled; delays the handling if hundreds of requests of one client end at once. Undefined: without delay.
   */
  readonly turn: () => Promise<void> | undefined;
}

/**
 * The deadline of one call. On a busy thread, the disconnection may be seen before a timer that was due earlier; the clock decides: if the timeout
 * had expired when the disconnection is seen, the reason is the timeout.
 */
export class CallDeadline {
  readonly #options: CallDeadlineOptions;
  // Not AbortSignal.timeout: its timer would keep the request in memory until it fires, long after the response.
  readonly #ended = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #onLeave = (): void => void this.#leave();
  #endsAt = 0;
  #timeoutError: InferyardError | undefined;

  constructor(options: CallDeadlineOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => this.#expire(), options.timeoutMs);
    this.extend();
    if (options.client.aborted) this.#ended.abort(options.client.reason);
    else addAbortListener(options.client, this.#onLeave);
  }

  /** Aborted when the call ends early. The reason is the timeout error, or the reason of the client's signal. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** The REQUEST_TIMEOUT error, if the timeout ended the call. */
  get timeoutError(): InferyardError | undefined {
    return this.#timeoutError;
  }

  /** Restarts the timeout of the call. */
  extend(): void {
    this.#endsAt = performance.now() + this.#options.timeoutMs;
    this.#timer.refresh();
  }

  /** Ends supervision, after the call has finished. */
  stop(): void {
    clearTimeout(this.#timer);
    removeAbortListener(this.#options.client, this.#onLeave);
  }

  async #leave(): Promise<void> {
    const isLate = performance.now() >= this.#endsAt;
    if (isLate) return this.#expire();
    clearTimeout(this.#timer);
    await this.#options.turn();
    this.#ended.abort(this.#options.client.reason);
  }

  #expire(): void {
    if (this.#ended.signal.aborted) return;
    const { timeoutMs, expectedWaitMs } = this.#options;
    this.#timeoutError = new InferyardError("REQUEST_TIMEOUT", `the request was not done within ${timeoutMs} ms`, {
      remedy: "send less at once, or raise requestTimeout",
      retryAfterMs: Math.ceil(expectedWaitMs()),
    });
    this.#ended.abort(this.#timeoutError);
  }
}
