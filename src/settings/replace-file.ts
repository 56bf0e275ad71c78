/** Writes a file so that whoever reads it, and whatever happens meanwhile, finds the old text or the new one, and nothing between. */
import { randomUUID } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../models/sync-folder.ts";

/** The ending of the temporary file beside it, which a process that is killed leaves behind. */
const temporaryEnding = ".part";

/** The file keeps its permissions. Throws what the file system says. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}${temporaryEnding}`;
  const before = await stat(path).catch(() => undefined); // a new file has the permissions that new files have
  try {
    const file = await open(temporary, "wx");
    try {
      if (before !== undefined) await file.chmod(before.mode);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
}
