/** What the programs of child processes that load libraries share. */
import { type ErrorCode, wrapError } from "../../contract/errors.ts";
import { watchParent } from "../../hosts/parent-watchdog.ts";
import type { EndMessage, LoadedMessage, StepMessage } from "./child-messages.ts";

/**
 * Does `work`, says how it ended, and stays: the parent ends this process, since the destructors of a library may crash. `tell` sends a message, and waits until
 * the system has it. `code` and `context`: of errors that have no code.
 */
export async function workForParent(
  code: ErrorCode,
  context: string,
  work: (tell: (message: LoadedMessage | StepMessage) => Promise<void>) => Promise<void>,
): Promise<void> {
  const tell = async (message: LoadedMessage | StepMessage | EndMessage): Promise<void> =>
    new Promise<void>((resolve) => void process.send?.(message, undefined, undefined, () => resolve()));
  watchParent();
  process.on("disconnect", () => process.exit(0));
  try {
    await work(tell);
    await tell({ kind: "done" });
  } catch (error) {
    await tell({ kind: "failed", error: wrapError(error, code, context).toJSON() });
  }
}
