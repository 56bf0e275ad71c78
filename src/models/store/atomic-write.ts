/** Small files that appear whole or not at all. */
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../sync-folder.ts";
import { diskError } from "./disk.ts";
import { stagingName } from "./staging.ts";

/** Writes a small file so that a reader sees the old one or the new one, also after a loss of power. */
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
    // The first failure is the one to tell; what stays behind is swept away later.
    await rm(staging, { force: true }).catch(() => undefined);
    throw diskError(path, error);
  }
}
