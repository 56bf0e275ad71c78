/** Taking models and leftovers out of the store. What a model needs is never touched. */
import { readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { withDiskErrors, listNames, statOrUndefined } from "./disk.ts";
import { removeBlob } from "./blobs.ts";
import type { StoreLayout } from "./layout.ts";
import { withLock, tryWithLock } from "./lock.ts";
import { findDamaged, requireModel } from "./lookup.ts";
import { isSha256 } from "./record-validation.ts";
import { readAllRecords, removeRecord } from "./record.ts";
import { oldestRunningPull } from "./running-pulls.ts";
import { isStaging } from "./staging.ts";
import { sweepAbandonedFiles } from "./sweep.ts";
import { removeTree } from "./trees.ts";
import { InferyardError } from "../../errors.ts";

export interface RemoveReport {
  readonly name: string;
  /** Bytes of the disk that are free again; content that other models have stays. */
  readonly freedBytes: number;
}

export interface PruneReport {
  /** Files no model needs. */
  readonly blobs: number;
  /** Folders no model needs, and unfinished ones. */
  readonly trees: number;
  /** Downloads nobody goes on with. */
  readonly downloads: number;
  /** Locks of processes that have ended. */
  readonly locks: number;
  readonly freedBytes: number;
  /** A pull was running: what it may need was left alone. */
  readonly pullRunning: boolean;
}

/** Removes a model with the content no other one has. */
export async function removeModel(layout: StoreLayout, text: string): Promise<RemoveReport> {
  return await withPublishLock(layout, async () => {
    const damaged = await findDamaged(layout, text);
    if (damaged !== undefined) {
      await removeRecord(layout, damaged.name); // what it needed is not known: `prune` removes it
      return { name: damaged.name, freedBytes: 0 };
    }
    const { record, variant } = await requireModel(layout, text);
    if (variant !== undefined) {
      throw new InferyardError("INPUT_INVALID", `${text} names a variant, and models are removed whole`, {
        remedy: `inferyard remove ${record.name}`,
      });
    }
    await removeRecord(layout, record.name);
    const needed = await neededContent(layout);
    const { blobs } = needed;
    // Trees of earlier pulls hold the same content as well.
    await removeTrees(layout, await listNames(layout.trees), needed.trees, olderThanRunningPulls(layout));
    const own = new Set(record.files.map(({ sha256 }) => sha256));
    const freed = await Promise.all([...own].filter((sha256) => !blobs.has(sha256)).map((sha256) => freeBlob(layout, sha256)));
    await removeStaleGitDigests(layout);
    return { name: record.name, freedBytes: sum(freed) };
  });
}

/** Removes what nothing refers to, and what dead processes left. What a running pull has fetched stays. */
export async function prune(layout: StoreLayout): Promise<PruneReport> {
  return await withPublishLock(layout, async () => {
    const since = await oldestRunningPull(layout.locks);
    const isOld = olderThanRunningPulls(layout);
    // Looked at before the records are read: what is published later is not in these lists.
    const [allBlobs, allTrees] = await Promise.all([listNames(layout.blobs), listNames(layout.trees)]);
    const needed = await neededContent(layout);
    const trees = await removeTrees(layout, allTrees, needed.trees, isOld);
    const freed: number[] = [];
    for (const name of allBlobs.filter((blob) => isSha256(blob) && !needed.blobs.has(blob))) {
      if (await isOld(join(layout.blobs, name))) freed.push(await freeBlob(layout, name));
    }
    const swept = await sweepAbandonedFiles(layout);
    const downloads = await pruneDownloads(layout, isOld);
    await removeStaleGitDigests(layout);
    return {
      blobs: freed.length,
      trees: trees + swept.leftovers,
      downloads: downloads.length,
      locks: swept.locks,
      freedBytes: sum(freed) + sum(downloads),
      pullRunning: since !== undefined,
    };
  });
}

type IsOld = (path: string) => Promise<boolean>;

/** Times of files are coarser than clocks: a kernel may write one that is a tick old. */
const timestampGranularityMs = 1000;

/**
 * Whether a path is older than every pull that runs. The file is looked at first and the pulls after: the pull that has made it was there
 * before it, and a pull that began since `prune` did is seen as well.
 */
function olderThanRunningPulls(layout: StoreLayout): IsOld {
  return async (path) => {
    const modified = (await statOrUndefined(path))?.mtimeMs ?? 0;
    const since = await oldestRunningPull(layout.locks);
    return since === undefined || modified < since - timestampGranularityMs;
  };
}

/** Gives the number of trees that are gone. */
async function removeTrees(
  layout: StoreLayout,
  all: readonly string[],
  needed: ReadonlySet<string>,
  isOld: IsOld,
): Promise<number> {
  let removed = 0;
  for (const name of all.filter((tree) => isSha256(tree) && !needed.has(tree))) {
    if (!(await isOld(join(layout.trees, name)))) continue;
    await removeTree(layout, name);
    removed += 1;
  }
  return removed;
}

/** Nothing is published meanwhile. */
async function withPublishLock<Result>(layout: StoreLayout, work: () => Promise<Result>): Promise<Result> {
  return await withLock(join(layout.locks, "publish.lock"), work);
}

async function neededContent(layout: StoreLayout): Promise<{ readonly blobs: Set<string>; readonly trees: Set<string> }> {
  const { records, damaged } = await readAllRecords(layout);
  const mentioned = damaged.flatMap(({ digests }) => digests);
  return {
    blobs: new Set([...records.flatMap(({ files }) => files.map(({ sha256 }) => sha256)), ...mentioned]),
    trees: new Set([...records.map(({ tree }) => tree), ...mentioned]),
  };
}

/** The bytes that come free: none where something outside the store has the same file, as Hugging Face's cache may. */
async function freeBlob(layout: StoreLayout, sha256: string): Promise<number> {
  const status = await statOrUndefined(join(layout.blobs, sha256));
  await removeBlob(layout, sha256);
  return status === undefined || status.nlink > 1 ? 0 : status.size;
}

/** Those of blobs that are gone; a digest is noted after its blob. */
async function removeStaleGitDigests(layout: StoreLayout): Promise<void> {
  for (const name of (await listNames(layout.gitDigests)).filter((file) => !isStaging(file))) {
    const path = join(layout.gitDigests, name);
    const sha256 = await withDiskErrors(path, () => readFile(path, "utf8"));
    if ((await statOrUndefined(join(layout.blobs, sha256.trim()))) === undefined)
      await withDiskErrors(path, () => rm(path, { force: true }));
  }
}

/** Gives the sizes of the downloads it removed. Each under its lock: a pull that goes on with one just now holds that. */
async function pruneDownloads({ downloads, locks }: StoreLayout, isOld: IsOld): Promise<number[]> {
  const sizes: number[] = [];
  for (const name of await listNames(downloads)) {
    const path = join(downloads, name);
    await tryWithLock(join(locks, `${basename(name, ".partial")}.lock`), async () => {
      const status = await statOrUndefined(path);
      if (status === undefined || !(await isOld(path))) return;
      await withDiskErrors(path, () => rm(path, { force: true }));
      sizes.push(status.size);
    });
  }
  return sizes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
