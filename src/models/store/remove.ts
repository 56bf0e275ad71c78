/** Removes models, and files that no model needs, from the store. */
import { readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { withDiskErrors, listNames, statOrUndefined } from "../../storage/disk.ts";
import { removeBlob } from "./blobs.ts";
import type { StoreLayout } from "./layout.ts";
import { withLock, tryWithLock } from "../../storage/lock.ts";
import { findDamaged, requireModel } from "./lookup.ts";
import { isSha256 } from "./record-validation.ts";
import { readAllRecords, removeRecord } from "./record.ts";
import { oldestRunningPull } from "./running-pulls.ts";
import { isStaging } from "../../storage/staging.ts";
import { sweepAbandonedFiles } from "./sweep.ts";
import { removeTree } from "./trees.ts";
import { invalidInput } from "../../contract/errors.ts";

/** The result of removing a model. */
export interface RemoveReport {
  /** Name of the model in the store. */
  readonly name: string;
  /** Bytes of disk space that were freed. Content that other models have stays. */
  readonly freedBytes: number;
}

/** The result of pruning a store. */
export interface PruneReport {
  /** Number of removed blobs that no model needed. */
  readonly blobs: number;
  /** Number of removed trees that no model needed or that were unfinished. */
  readonly trees: number;
  /** Number of removed incomplete downloads. */
  readonly downloads: number;
  /** Number of removed locks of processes that have ended. */
  readonly locks: number;
  /** Bytes of disk space that were freed. */
  readonly freedBytes: number;
  /** Whether a pull was running. Files that it may need were kept. */
  readonly pullRunning: boolean;
}

/**
 * Removes the model that `text` names from the store, and the content that no other model has. Throws MODEL_NOT_FOUND if there is
 * no such model, and INPUT_INVALID if `text` names a variant.
 */
export async function removeModel(layout: StoreLayout, text: string): Promise<RemoveReport> {
  return await withPublishLock(layout, async () => {
    const damaged = await findDamaged(layout, text);
    if (damaged !== undefined) {
      await removeRecord(layout, damaged.name); // its files are unknown; `prune` removes them
      return { name: damaged.name, freedBytes: 0 };
    }
    const { record, variant } = await requireModel(layout, text);
    if (variant !== undefined) {
      throw invalidInput(`${text} names a variant, and models are removed whole`, `inferyard remove ${record.name}`);
    }
    await removeRecord(layout, record.name);
    const needed = await neededContent(layout);
    const { blobs } = needed;
    // Trees of earlier pulls link to the same content.
    await removeTrees(layout, await listNames(layout.trees), needed.trees, olderThanRunningPulls(layout));
    const own = new Set(record.files.map(({ sha256 }) => sha256));
    const freed = await Promise.all([...own].filter((sha256) => !blobs.has(sha256)).map((sha256) => freeBlob(layout, sha256)));
    await removeStaleGitDigests(layout);
    return { name: record.name, freedBytes: sum(freed) };
  });
}

/** Removes the files of the store that no model refers to, and leftovers of ended processes. Files fetched by a running pull are kept. */
export async function prune(layout: StoreLayout): Promise<PruneReport> {
  return await withPublishLock(layout, async () => {
    const since = await oldestRunningPull(layout.locks);
    const isOld = olderThanRunningPulls(layout);
    // Listed before the records are read, so that nothing published later is in these lists.
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

/** File times are coarser than the clock: a kernel may write one that is a tick old. */
const timestampGranularityMs = 1000;

/**
 * Whether a path is older than every running pull. The time of the file is read before the locks of the pulls, so that the pull that created it is among them,
 * as is any pull that began after `prune`.
 */
function olderThanRunningPulls(layout: StoreLayout): IsOld {
  return async (path) => {
    const modified = (await statOrUndefined(path))?.mtimeMs ?? 0;
    const since = await oldestRunningPull(layout.locks);
    return since === undefined || modified < since - timestampGranularityMs;
  };
}

/** Removes the trees that are not needed and older than every running pull. Returns their number. */
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

/** Runs `work` while no pull publishes. */
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

/** Removes a blob. Returns the bytes that this frees: 0 if the file has other hard links, as in Hugging Face's cache. */
async function freeBlob(layout: StoreLayout, sha256: string): Promise<number> {
  const status = await statOrUndefined(join(layout.blobs, sha256));
  await removeBlob(layout, sha256);
  return status === undefined || status.nlink > 1 ? 0 : status.size;
}

/** Removes the git digests of blobs that no longer exist. A git digest is always recorded after its blob. */
async function removeStaleGitDigests(layout: StoreLayout): Promise<void> {
  for (const name of (await listNames(layout.gitDigests)).filter((file) => !isStaging(file))) {
    const path = join(layout.gitDigests, name);
    const sha256 = await withDiskErrors(path, () => readFile(path, "utf8"));
    if ((await statOrUndefined(join(layout.blobs, sha256.trim()))) === undefined)
      await withDiskErrors(path, () => rm(path, { force: true }));
  }
}

/** Removes incomplete downloads that are older than every running pull, and returns their sizes. A download whose lock is held is in use and stays. */
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
