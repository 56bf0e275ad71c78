/**
 * Every pull says that it runs, so that `prune` leaves alone what it has fetched and not yet put together; and clears away what those that
 * were killed left.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { listNames } from "./disk.ts";
import { readLock, withLock } from "./lock.ts";
import { holderState } from "./lock-holder.ts";
import type { StoreLayout } from "./layout.ts";
import { sweepAbandonedFiles } from "./sweep.ts";

const prefix = "pull-";

export async function withRunningPull<Result>(layout: StoreLayout, work: () => Promise<Result>): Promise<Result> {
  await sweepAbandonedFiles(layout);
  return await withLock(join(layout.locks, `${prefix}${randomUUID()}.lock`), work);
}

/** Clocks of two machines may differ; what is younger than a pull by less than this is taken for its own. */
const clockToleranceMs = 60 * 60 * 1000;

/** When the oldest pull that may still run began, in milliseconds since 1970; undefined when none runs. */
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
