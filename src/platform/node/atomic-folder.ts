/** Atomic renames of folders: readers see a complete folder or none. */
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "./atomic-write.ts";

/**
 * Renames the complete folder `staging` to `path` and flushes the rename, so that it survives a loss of power. `isPublished`: whether another process has put
 * an equal folder at `path`; then that folder is kept, and `staging` is removed. Throws errors of the file system; `staging` is kept in this case.
 */
export async function publishFolder(staging: string, path: string, isPublished: () => Promise<boolean>): Promise<void> {
  try {
    await rename(staging, path);
  } catch (error) {
    if (!(await isPublished())) throw error;
    await rm(staging, { recursive: true, force: true });
  }
  await syncFolder(dirname(path));
}

/**
 * Renames the folder `staging` to `path`, where a folder exists. A rename cannot replace a folder that is not empty: the old one is first renamed to `aside`,
 * and renamed back if the second rename fails. The old folder is then removed. Throws errors of the file system.
 */
export async function replaceFolder(staging: string, path: string, aside: string): Promise<void> {
  await rename(path, aside);
  try {
    await rename(staging, path);
  } catch (error) {
    await rename(aside, path);
    throw error;
  }
  await syncFolder(dirname(path));
  await rm(aside, { recursive: true, force: true });
}
