/** A child process of the process host. It exits when its parent disconnects or has ended. */
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import { lowerPriority } from "../platform/node/lower-priority.ts";
import { ModelServer } from "./model-server.ts";
import { watchParent } from "./parent-watchdog.ts";
import type { AnswerMessage, CallMessage } from "./protocol.ts";

/**
 * Makes this process one that ends with its parent, and returns what sends a message to the parent: it ignores a parent that has ended, and throws if the message cannot be cloned. Throws
 * CONTRACT_VIOLATION where the process is not the child of a program.
 */
export function becomeChild(): (message: object) => void {
  const send = process.send?.bind(process);
  if (send === undefined) throw new InferyardError("CONTRACT_VIOLATION", "this is the program of a child, not a main program");

  // Output of an engine through Node.js goes to stderr, which the parent reads; its stdout is reserved for results.
  process.stdout.write = process.stderr.write.bind(process.stderr);

  watchParent(); // before the priority is lowered: the thread keeps the priority that it starts with
  process.on("disconnect", () => process.exit(0));
  // Ctrl-C reaches every process of the terminal; the parent decides whether the work goes on.
  process.on("SIGINT", () => {});
  return (message) => void send(message, undefined, undefined, () => {});
}

/** Answers the calls of the parent. Throws CONTRACT_VIOLATION where the process is not the child of a program. */
export function serveParent(): void {
  const send = becomeChild();
  lowerPriority("process"); // before the engine starts threads: the event loop of the program that uses it stays responsive
  const server = new ModelServer("process");

  process.on("message", async (message: CallMessage) => {
    const answer = await server.answer(message, (work) => work());
    try {
      reply(answer);
    } catch (thrown) {
      reply({ number: message.number, ok: false, error: server.failure(message.operation, thrown).toJSON() });
    }
  });

  /** Sends an answer. Throws if it cannot be cloned. */
  function reply(answer: AnswerMessage): void {
    send(withFigures(answer, server));
  }
}

/** Adds the resident memory of the process, which holds the model alone, and the counts of its programs. */
function withFigures(answer: AnswerMessage, { programs }: ModelServer): AnswerMessage {
  const memory = { bytes: process.memoryUsage.rss(), measure: "resident" } as const;
  return { ...answer, memory, ...omitUndefined({ programs }) };
}
