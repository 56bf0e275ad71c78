/** Atomic replacement of small files. */
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../sync-folder.ts";
import { diskError } from "./disk.ts";
import { stagingName } from "./staging.ts";

/**
 * Writes a file atomically: readers see the old content or the new one, also after a loss of power. The content goes to a temporary file that is flushed and
 * renamed. Throws DISK_FULL or OUTPUT_FAILED.
 */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  const staging = `${path}${stagingName("writing")}`;
  try {
    const file = await open(staging, "wx");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(staging, path);
    await syncFolder(dirname(path));
  } catch (error) {
    // An error of the clean-up must not replace the first one. Leftovers are swept later.
    await rm(staging, { force: true }).catch(() => undefined);
    throw diskError(path, error);
  }
}
