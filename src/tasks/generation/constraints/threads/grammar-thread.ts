/** One worker thread that compiles grammars and computes masks, as its pool sees it. */
import { Worker } from "node:worker_threads";
import { messageOf } from "../../../../contract/errors.ts";
import { moduleArguments } from "../../../../hosts/node-arguments.ts";
import type { CallMessage, ReadyMessage, ResultMessage } from "./protocol.ts";

/** A thread that did not finish a call: it took too much memory or time, or the thread failed. */
export class ThreadFailure extends Error {
  readonly kind: "memory" | "time" | "ended";

  constructor(kind: ThreadFailure["kind"], cause?: unknown) {
    super(cause === undefined ? "the thread ended" : `the thread failed: ${messageOf(cause)}`, { cause });
    this.kind = kind;
  }
}

/** A worker thread that performs one call at a time. */
export class GrammarThread {
  /** Resolves when the program of the thread is loaded, or has ended: time that this takes is no call's. */
  readonly ready: Promise<void>;
  /** Heap that the thread held after its last call, in use or not, in bytes. */
  heapBytes = 0;
  readonly #worker: Worker;
  readonly #onEnd: (thread: GrammarThread) => void;
  #call: { readonly resolve: (result: ResultMessage) => void; readonly reject: (failure: ThreadFailure) => void } | undefined;
  #hasEnded = false;
  #isReady: () => void = () => {};

  /** `heap`: its limit in MiB. `onEnd`: called once the thread performs no more calls. */
  constructor(program: URL, heap: number, onEnd: (thread: GrammarThread) => void = () => {}) {
    this.#onEnd = onEnd;
    this.ready = new Promise((resolve) => (this.#isReady = resolve));
    this.#worker = new Worker(program, {
      resourceLimits: { maxOldGenerationSizeMb: heap },
      // Other arguments of the process, such as --max-old-space-size, would override the heap limit.
      execArgv: moduleArguments(process.execArgv),
    });
    this.#worker.unref();
    this.#worker.on("message", (result: ResultMessage | ReadyMessage) => {
      if ("isReady" in result) {
        this.#isReady();
        return;
      }
      this.heapBytes = result.heapBytes;
      this.#worker.unref();
      const call = this.#call;
      this.#call = undefined;
      call?.resolve(result);
    });
    this.#worker.on("error", (error: NodeJS.ErrnoException) => {
      void this.end(new ThreadFailure(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "ended", error));
    });
    this.#worker.on("exit", () => void this.end(new ThreadFailure("ended")));
  }

  /** Performs a call. Rejects with a `ThreadFailure` if the thread ends before it has finished. */
  perform(message: CallMessage): Promise<ResultMessage> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) {
        reject(new ThreadFailure("ended"));
        return;
      }
      this.#call = { resolve, reject };
      this.#worker.ref();
      this.#worker.postMessage(message);
    });
  }

  /** Frees a grammar. The thread says nothing of it. */
  drop(grammar: number): void {
    const message: CallMessage = { operation: "drop", args: { grammar } };
    if (!this.#hasEnded) this.#worker.postMessage(message);
  }

  /** Ends the thread. A call in progress is rejected. */
  async end(failure: ThreadFailure = new ThreadFailure("ended")): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const call = this.#call;
    this.#call = undefined;
    call?.reject(failure);
    this.#isReady();
    this.#onEnd(this);
    await this.#worker.terminate();
  }
}
