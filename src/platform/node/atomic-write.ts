/** Atomic replacement of files. */
import { randomUUID } from "node:crypto";
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file atomically: readers see the old content or the new one, also after a loss of power. `write` fills a temporary file, which is then flushed and
 * renamed to `path`, or to the file that a symbolic link at `path` refers to. `temporaryEnding` is added to the name of that file; the default is a unique one.
 * After an error the temporary file is removed and the file is unchanged. Throws errors of `write` and of the file system, and EINVAL for a device, a pipe or a
 * socket, which a rename would replace by a file.
 */
export async function writeAtomically<Result>(
  path: string,
  write: (file: FileHandle) => Promise<Result>,
  temporaryEnding = `.${process.pid}.${randomUUID()}.tmp`,
): Promise<Result> {
  const target = await replaceableFile(path);
  const temporary = `${target}${temporaryEnding}`;
  try {
    const result = await writeFlushed(temporary, write);
    await rename(temporary, target);
    await syncFolder(dirname(target));
    return result;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined); // an error of the clean-up must not replace the first one
    throw error;
  }
}

/** The path that is renamed to: after symbolic links, if a file is there. */
async function replaceableFile(path: string): Promise<string> {
  const status = await stat(path).catch(() => undefined); // of a path that cannot be looked at, the next call says why
  if (status === undefined || status.isDirectory()) return path; // rename refuses a folder
  if (status.isFile()) return await realpath(path);
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
