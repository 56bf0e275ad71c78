/** The program a child process runs. It ends when its parent disconnects, or is gone. */
import { getPriority, setPriority } from "node:os";
import { InferyardError } from "../errors.ts";
import { ModelServer } from "./model-server.ts";
import { watchParent } from "./parent-watchdog.ts";
import type { AnswerMessage, CallMessage } from "./protocol.ts";

/** As the system counts, from 0 to 19: the engine takes what the program that asks leaves, whose event loop then answers in time. */
const niceness = 10;

const send = process.send?.bind(process);
if (send === undefined)
  throw new InferyardError("CONTRACT_VIOLATION", "process-child.js is the program of a child, not a main program");

// What an engine prints through Node.js joins its errors, so that the parent sees both; stdout itself is the parent's stderr.
process.stdout.write = process.stderr.write.bind(process.stderr);

watchParent(); // before the priority is lowered: the thread keeps the priority it starts with
lowerPriority();
const server = new ModelServer("process");

process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches every process of the terminal; whether the work goes on is the parent's to say.
process.on("SIGINT", () => {});

process.on("message", async (message: CallMessage) => {
  const answer = await server.answer(message, (work) => work());
  try {
    reply(answer);
  } catch (thrown) {
    reply({ number: message.number, ok: false, error: server.failure(message.operation, thrown).toJSON() });
  }
});

/** Before the engine starts threads, which take after this one. */
function lowerPriority(): void {
  try {
    setPriority(getPriority() + niceness);
  } catch {
    // A system that forbids it: the engine computes as it would, and the program that asks may answer later.
  }
}

/** A parent that is gone takes no answer: "disconnect" ends this process. Throws where the answer cannot be copied. */
function reply(answer: AnswerMessage): void {
  send?.(withMemory(answer), undefined, undefined, () => {});
}

/** The memory of the whole process, which is the model's alone. */
function withMemory(answer: AnswerMessage): AnswerMessage {
  return { ...answer, memory: { bytes: process.memoryUsage.rss(), measure: "resident" } };
}
