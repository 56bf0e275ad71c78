/** Removes what dead processes left in the store. */
import { join } from "node:path";
import { listNames } from "../../storage/disk.ts";
import type { StoreLayout } from "./layout.ts";
import { breakLock, readLock } from "../../storage/lock.ts";
import { holderState } from "../../storage/lock-holder.ts";
import { sweepAbandoned } from "../../storage/staging.ts";

/** Result of `sweepAbandonedFiles`. */
export interface SweepReport {
  /** Number of temporary files and folders removed. */
  readonly leftovers: number;
  /** Number of locks removed. */
  readonly locks: number;
}

/** Removes temporary files and locks whose process has certainly ended. Safe to run during any other operation. */
export async function sweepAbandonedFiles({ trees, models, gitDigests, locks }: StoreLayout): Promise<SweepReport> {
  const leftovers = await Promise.all([trees, models, gitDigests, locks].map((folder) => sweepAbandoned(folder)));
  return { leftovers: leftovers.reduce((sum, count) => sum + count, 0), locks: await sweepLocks(locks) };
}

async function sweepLocks(folder: string): Promise<number> {
  let removed = 0;
  for (const name of (await listNames(folder)).filter((file) => file.endsWith(".lock"))) {
    const path = join(folder, name);
    const lock = await readLock(path);
    if (lock?.holder === undefined || (await holderState(lock.holder)) !== "dead") continue;
    await breakLock(path, lock.holder.token);
    removed += 1;
  }
  return removed;
}
