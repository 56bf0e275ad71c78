/** The program of a thread in Node.js. */
import { parentPort } from "node:worker_threads";
import { type ThreadMessage, createWorkerLoop } from "./worker-loop.ts";

const take = createWorkerLoop();
parentPort?.on("message", (message: ThreadMessage) => take(message));
