/**
 * Registers running pulls by a lock each, so that `prune` keeps files that a pull has fetched and not yet published.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { listNames } from "../../storage/disk.ts";
import { readLock, withLock } from "../../storage/lock.ts";
import { holderState } from "../../storage/lock-holder.ts";
import type { StoreLayout } from "./layout.ts";
import { sweepAbandonedFiles } from "./sweep.ts";

const prefix = "pull-";

/**
 * Runs `work`, the body of a pull, while a lock file registers the pull as running, so that `prune` keeps its files. Removes the
 * leftovers of processes that ended first.
 */
export async function withRunningPull<Result>(layout: StoreLayout, work: () => Promise<Result>): Promise<Result> {
  await sweepAbandonedFiles(layout);
  return await withLock(join(layout.locks, `${prefix}${randomUUID()}.lock`), work);
}

/** Largest difference between the clocks of two machines that is allowed for. */
const clockToleranceMs = 60 * 60 * 1000;

/**
 * When the oldest pull that may still run began, in milliseconds since 1970, or undefined if none runs. `locks` is the folder of
 * lock files.
 */
export async function oldestRunningPull(locks: string): Promise<number | undefined> {
  const starts: number[] = [];
  for (const name of await listNames(locks)) {
    if (!name.startsWith(prefix) || !name.endsWith(".lock")) continue;
    const lock = await readLock(join(locks, name));
    if (lock?.holder === undefined) continue;
    const state = await holderState(lock.holder);
    if (state === "dead" || (state === "unknown" && Date.now() - lock.mtimeMs > clockToleranceMs)) continue;
    starts.push(state === "alive" ? lock.holder.since : lock.holder.since - clockToleranceMs);
  }
  return starts.length === 0 ? undefined : Math.min(...starts);
}
