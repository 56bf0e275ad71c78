/** A worker thread that performs calls, as its pool sees it: with a heap limit, deadlines, and an end after idle time. */
import type { Worker } from "node:worker_threads";
import { getMessage } from "../../contract/errors.ts";
import { moduleArguments } from "../../hosts/node-arguments.ts";
import { startThread } from "../../platform/node/start-thread.ts";
import type { ReadyMessage } from "./thread-program.ts";

/** Why a thread did not finish a call: it exceeded its heap limit or the deadline, or it failed or was ended. */
export class ThreadFailure extends Error {
  readonly kind: "memory" | "time" | "ended";

  constructor(kind: ThreadFailure["kind"], cause?: unknown) {
    super(cause === undefined ? "the thread ended" : `the thread failed: ${getMessage(cause)}`, { cause });
    this.kind = kind;
  }
}

/** Settings of a thread. */
export interface CallThreadOptions {
  /** Script of the thread: it replies to each call with one message. */
  readonly program: URL;
  /** Maximum size of V8's old generation in MiB. */
  readonly heapMebibytes: number;
  /** Called once, when the thread performs no more calls. */
  readonly onEnd?: () => void;
}

interface Call<Reply> {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (failure: ThreadFailure) => void;
}

/** A worker thread that performs one call at a time. It keeps the process running only during calls. */
export class CallThread<Message, Reply extends object> {
  /** Resolves when the program has sent a `ReadyMessage`, or the thread has ended: the time of the load is no call's. */
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #onEnd: () => void;
  #call: Call<Reply> | undefined;
  #hasEnded = false;
  #deadline: NodeJS.Timeout | undefined;
  #rest: NodeJS.Timeout | undefined;
  #isReady: () => void = () => {};

  constructor({ program, heapMebibytes, onEnd = () => {} }: CallThreadOptions) {
    this.#onEnd = onEnd;
    this.ready = new Promise((resolve) => (this.#isReady = resolve));
    this.#worker = startThread(program, {
      resourceLimits: { maxOldGenerationSizeMb: heapMebibytes },
      // Other arguments of the process, such as --max-old-space-size, would override the heap limit.
      execArgv: moduleArguments(process.execArgv),
    });
    this.#worker.unref();
    this.#worker.on("message", (message: Reply | ReadyMessage) => {
      if ("isReady" in message) this.#isReady();
      else this.#settle()?.resolve(message);
    });
    this.#worker.on("error", (error: NodeJS.ErrnoException) => {
      void this.end(new ThreadFailure(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "ended", error));
    });
    this.#worker.on("exit", () => void this.end(new ThreadFailure("ended")));
  }

  /** Performs a call. Rejects with a `ThreadFailure` if the thread ends before it has finished. */
  perform(message: Message): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) {
        reject(new ThreadFailure("ended"));
        return;
      }
      clearTimeout(this.#rest);
      this.#call = { resolve, reject };
      this.#worker.ref();
      this.#worker.postMessage(message);
    });
  }

  /** Sends a message without a reply. */
  send(message: Message): void {
    if (!this.#hasEnded) this.#worker.postMessage(message);
  }

  /** Ends the thread with a failure of kind "time" if the call in progress takes this many milliseconds more. */
  endAfter(milliseconds: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => void this.end(new ThreadFailure("time")), milliseconds);
  }

  /** Ends the thread if it is idle for this many milliseconds. */
  rest(milliseconds: number): void {
    clearTimeout(this.#rest);
    if (!this.#hasEnded) this.#rest = setTimeout(() => void this.end(), milliseconds).unref();
  }

  /** Ends the thread. A call in progress is rejected with `failure`. */
  async end(failure: ThreadFailure = new ThreadFailure("ended")): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#rest);
    this.#settle()?.reject(failure);
    this.#isReady();
    this.#onEnd();
    await this.#worker.terminate();
  }

  /** Removes the call in progress. */
  #settle(): Call<Reply> | undefined {
    clearTimeout(this.#deadline);
    this.#worker.unref();
    const call = this.#call;
    this.#call = undefined;
    return call;
  }
}
