/** Atomic replacement of files. */
import { randomUUID } from "node:crypto";
import { type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file atomically: readers see the old content or the new one, also after a loss of power. `write` fills a temporary file, which is then flushed and renamed
 * to `path`. `temporary` is its path, in the folder of `path`; the default is a unique name. After an error the temporary file is removed and `path` is unchanged.
 * Throws what `write` and the file system throw, and EINVAL for a `path` that is a device, a pipe or a socket, which renaming would replace.
 */
export async function writeAtomically<Result>(
  path: string,
  write: (file: FileHandle) => Promise<Result>,
  temporary: string = `${path}.${process.pid}.${randomUUID()}.tmp`,
): Promise<Result> {
  await refuseIrregular(path);
  try {
    const result = await writeFlushed(temporary, write);
    await rename(temporary, path);
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined); // an error of the clean-up must not replace the first one
    throw error;
  }
}

async function refuseIrregular(path: string): Promise<void> {
  const status = await lstat(path).catch(() => undefined); // what cannot be looked at cannot be written either, which the caller hears next
  if (status === undefined || status.isFile() || status.isSymbolicLink() || status.isDirectory()) return; // rename refuses folders
  throw Object.assign(new Error(`${path} is no regular file, and would be replaced by one`), { code: "EINVAL" });
}

/** Creates a file, which must not exist, and flushes what `write` writes to it. */
async function writeFlushed<Result>(path: string, write: (file: FileHandle) => Promise<Result>): Promise<Result> {
  const file = await open(path, "wx");
  try {
    const result = await write(file);
    await file.sync();
    return result;
  } finally {
    await file.close();
  }
}

/** Flushes a folder (fsync), so that files created, renamed or removed in it stay so after a loss of power. Does nothing on Windows, which has no such call. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
