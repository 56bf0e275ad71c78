/** What the disk refuses, told as an error of ours. */
import type { Stats } from "node:fs";
import { readdir, stat, statfs } from "node:fs/promises";
import { InferyardError, messageOf } from "../../errors.ts";

export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** DISK_FULL where there is no room, OUTPUT_FAILED for anything else the disk refuses; one of ours passes unchanged. */
export function diskError(path: string, error: unknown): InferyardError {
  if (error instanceof InferyardError) return error;
  if (errorCode(error) === "ENOSPC" || errorCode(error) === "EDQUOT") {
    return new InferyardError("DISK_FULL", `there is no room for ${path}: ${messageOf(error)}`, {
      remedy: diskFullRemedy,
      cause: error,
    });
  }
  return new InferyardError("OUTPUT_FAILED", `${path} cannot be written: ${messageOf(error)}`, {
    remedy: "check the permissions, or set INFERYARD_HOME to a folder elsewhere",
    cause: error,
  });
}

export const diskFullRemedy =
  "make room (`inferyard prune` removes what no model needs), or set INFERYARD_HOME to a folder on a larger disk; what was fetched stays";

export async function withDiskErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw diskError(path, error);
  }
}

/** Names in a folder; none where there is no such folder. */
export async function listNames(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw diskError(folder, error);
  }
}

/** Undefined where there is nothing, and where a link leads nowhere. */
export async function statOrUndefined(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
    throw diskError(path, error);
  }
}

/** Bytes this user may still write to the disk the folder lies on. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await withDiskErrors(folder, () => statfs(folder));
  return bavail * bsize;
}
