/** What the programs of worker threads share. */
import { type MessagePort, parentPort } from "node:worker_threads";
import { InferyardError } from "../../contract/errors.ts";

/** The port to the pool. Throws CONTRACT_VIOLATION in a main program. */
export function requirePort(program: string): MessagePort {
  if (parentPort === null)
    throw new InferyardError("CONTRACT_VIOLATION", `${program} is the program of a worker thread, not a main program`);
  return parentPort;
}
