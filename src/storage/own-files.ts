/** Files of the data folder that other users must not be able to change: results of tests, and machine code. */
import { type Stats, mkdirSync, rmSync } from "node:fs";

/** Write permission of the group and of others. */
const writableByOthers = 0o022;

/** Whether only this user and the administrator can write a file or folder. On Windows the folder of the user's data is assumed to be private. */
export function isTrusted({ uid, mode }: Stats): boolean {
  const user = process.geteuid?.();
  return user === undefined || ((uid === user || uid === 0) && (mode & writableByOthers) === 0);
}

/** Creates a folder that only this user can write, whatever the umask permits. Does nothing if it exists. */
export function makeOwnFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Removes a file. A failure is ignored: another process removes the file, or a later one. Returns whether the file is gone. */
export function removeIfThere(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}
