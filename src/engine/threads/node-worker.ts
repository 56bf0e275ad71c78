/** The program of a thread in Node.js. */
import { parentPort } from "node:worker_threads";
import { type ThreadMessage, kernelThread } from "./worker-loop.ts";

const take = kernelThread();
parentPort?.on("message", (message: ThreadMessage) => take(message));
