/** File system access of the store, with its errors as InferyardError. */
import type { Stats } from "node:fs";
import { readdir, stat, statfs, utimes } from "node:fs/promises";
import { InferyardError, getMessage, outputFailed } from "../contract/errors.ts";
import { isMissing } from "../platform/missing-file.ts";

/** The `code` of an error of Node.js ("ENOENT"), or undefined if it has none. */
export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/**
 * Converts an error of the file system to DISK_FULL if there is no space left, else to OUTPUT_FAILED; `path` names the file in
 * the message. An InferyardError is returned unchanged. The error is returned, not thrown.
 */
export function diskError(path: string, error: unknown): InferyardError {
  if (error instanceof InferyardError) return error;
  if (errorCode(error) === "ENOSPC" || errorCode(error) === "EDQUOT") {
    return new InferyardError("DISK_FULL", `there is no room for ${path}: ${getMessage(error)}`, {
      remedy: diskFullRemedy,
      cause: error,
    });
  }
  return outputFailed(path, error, "check the permissions, or set INFERYARD_HOME to a folder elsewhere");
}

/** Remedy of DISK_FULL. */
export const diskFullRemedy =
  "make room (`inferyard prune` removes what no model needs), or set INFERYARD_HOME to a folder on a larger disk; what was fetched stays";

/** Runs `work` and rethrows errors of the file system as DISK_FULL or OUTPUT_FAILED; `path` names the file in the message. */
export async function withDiskErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw diskError(path, error);
  }
}

/** Sets the modification time of a file to now. Does nothing where there is no such file, or this user cannot write to it. */
export async function touch(path: string): Promise<void> {
  const now = new Date();
  try {
    await utimes(path, now, now);
  } catch (error) {
    if (!["EROFS", "EACCES", "EPERM", "ENOENT"].includes(errorCode(error) ?? "")) throw diskError(path, error);
  }
}

/** Names of the entries of a folder, sorted; empty if there is no such folder. */
export async function listNames(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw diskError(folder, error);
  }
}

/**
 * Status of the file or folder at the path, or undefined if there is none or it is a broken link. Throws other errors of the file
 * system.
 */
export async function statOrUndefined(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw diskError(path, error);
  }
}

/** Bytes that this user can still write to the file system of the folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await withDiskErrors(folder, () => statfs(folder));
  return bavail * bsize;
}
