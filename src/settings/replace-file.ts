/** Replaces a file atomically: readers see the old text or the new one, also after a crash. */
import { randomUUID } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../models/sync-folder.ts";

/** Suffix of the temporary file, which remains if the process is killed. */
const temporaryEnding = ".part";

/** Replaces the content of the file, or creates it. Its permissions do not change. Throws the errors of the file system. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}${temporaryEnding}`;
  const before = await stat(path).catch(() => undefined); // undefined for a new file
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
