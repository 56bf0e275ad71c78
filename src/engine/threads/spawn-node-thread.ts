/** Threads in Node.js. */
import { Worker } from "node:worker_threads";
import type { ThreadHandle } from "./thread-pool.ts";

/**
 * Starts a thread that runs the program beside this module. One that does not start is one thread fewer: the others do its work, and
 * `onFailure` hears why.
 */
export function spawnNodeThread(onFailure: (cause: unknown) => void = () => {}): ThreadHandle {
  return threadHandle(new Worker(new URL("./node-worker.js", import.meta.url)), onFailure);
}

/** Any worker that runs `kernelThread`. */
export function threadHandle(worker: Worker, onFailure: (cause: unknown) => void): ThreadHandle {
  worker.on("error", onFailure);
  worker.unref();
  return {
    post: (message) => worker.postMessage(message),
    async end() {
      await worker.terminate();
    },
  };
}
