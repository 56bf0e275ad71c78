/** What the programs of worker threads share. */
import { getPriority, setPriority } from "node:os";
import { type MessagePort, parentPort } from "node:worker_threads";
import { InferyardError } from "../../contract/errors.ts";

/** Nice value that is added to the thread's, 0 to 19; equal to that of model processes. */
const niceness = 10;

/** The port to the pool. Throws CONTRACT_VIOLATION in a main program. */
export function requirePort(program: string): MessagePort {
  if (parentPort === null)
    throw new InferyardError("CONTRACT_VIOLATION", `${program} is the program of a worker thread, not a main program`);
  return parentPort;
}

/** Lowers the priority of this thread below that of the event loop. Linux only: elsewhere the priority is that of the whole process. */
export function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(getPriority() + niceness);
  } catch {
    // Not permitted: the thread keeps the priority of the process.
  }
}
