/** What ends a call before it is done: its client leaves, or its time is over. */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { InferyardError } from "../../contract/errors.ts";

/** How a call may end early. */
export interface CallDeadlineOptions {
  /** Aborted when the client disconnects. */
  readonly client: AbortSignal;
  readonly timeoutMs: number;
  /** Estimated waiting time in milliseconds of a call that is sent again. */
  readonly expectedWaitMs: () => number;
  /** Resolves when a disconnection may be acted on: hundreds of requests of one client may end at once. Undefined: at once. */
  readonly turn: () => Promise<void> | undefined;
}

/**
 * The deadline of one call. The clock decides why a call ends, not which event a busy thread sees first: the reason is the timeout wherever the time was over when the client
 * left.
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

  /** Aborted when the call ends early; the reason is the error of the timeout, or that of the client's signal. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** REQUEST_TIMEOUT if that ended the call. */
  get timeoutError(): InferyardError | undefined {
    return this.#timeoutError;
  }

  /** Begins the time of the call anew. */
  extend(): void {
    this.#endsAt = performance.now() + this.#options.timeoutMs;
    this.#timer.refresh();
  }

  /** The call is done. */
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
