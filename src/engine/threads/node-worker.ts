/** Entry point of a worker thread in Node.js: runs the worker loop on the messages it receives. */
import { parentPort } from "node:worker_threads";
import { type ThreadMessage, createWorkerLoop } from "./worker-loop.ts";

const take = createWorkerLoop();
parentPort?.on("message", (message: ThreadMessage) => take(message));
