/**
 * Program of the child process that loads libraries for the first time. Its arguments: how many of them must load, and the absolute paths of those and
 * of others, which the loader may refuse.
 */
import { wrapError } from "../../contract/errors.ts";
import { watchParent } from "../../hosts/parent-watchdog.ts";
import { ForeignFunctions } from "../ffi/index.ts";
import type { FirstLoadMessage } from "./child-messages.ts";

watchParent();
process.on("disconnect", () => process.exit(0));
const [required = "0", ...files] = process.argv.slice(2);
await loadAll(files, Number(required));

/** Loads the libraries in order, and stays: the parent ends this process, since the destructors of a library may crash. */
async function loadAll(paths: readonly string[], requiredCount: number): Promise<void> {
  try {
    const ffi = await ForeignFunctions.load();
    for (const [index, path] of paths.entries()) {
      try {
        ffi.open(path);
      } catch (error) {
        if (index < requiredCount) throw error;
      }
      // oxlint-disable-next-line no-await-in-loop
      await tell({ kind: "loaded" });
    }
    await tell({ kind: "done" });
  } catch (error) {
    await tell({ kind: "failed", error: wrapError(error, "LOAD_FAILED", "a library could not be loaded").toJSON() });
  }
}

/** Sends a message, and waits until the system has it. */
async function tell(message: FirstLoadMessage): Promise<void> {
  await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
}
