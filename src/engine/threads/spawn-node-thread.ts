/** Starts engine threads as worker threads of Node.js. */
import type { Worker } from "node:worker_threads";
import { startThread } from "../../platform/node/start-thread.ts";
import type { ThreadHandle } from "./thread-pool.ts";

/**
 * Starts a worker thread that runs `node-worker.ts`. A thread that fails to start only reduces parallelism: the others compute its share, and
 * `onFailure` receives the cause.
 */
export function spawnNodeThread(onFailure: (cause: unknown) => void = () => {}): ThreadHandle {
  return threadHandle(startThread(new URL("./node-worker.ts", import.meta.url)), onFailure);
}

/** Wraps a worker thread that runs `createWorkerLoop` in a handle. The thread does not keep the process alive. `onFailure` receives errors of the thread. */
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
