/** Threads in Node.js. */
import { Worker } from "node:worker_threads";
import type { ThreadPeer } from "./thread-pool.ts";

/**
 * Starts a thread that runs the program beside this module. One that does not start is one thread fewer: the others do its work, and
 * `onFailure` hears why.
 */
export function spawnNodeThread(onFailure: (cause: unknown) => void = () => {}): ThreadPeer {
  return peerOf(new Worker(new URL("./node-worker.js", import.meta.url)), onFailure);
}

/** Any worker that runs `kernelThread`. */
export function peerOf(worker: Worker, onFailure: (cause: unknown) => void): ThreadPeer {
  worker.on("error", onFailure);
  worker.unref();
  return {
    post: (message) => worker.postMessage(message),
    async end() {
      await worker.terminate();
    },
  };
}
