/** Trees: folders of links to blobs, from which models are read. A tree appears atomically under the digest of its list of files and is never modified. */
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { modelInvalid } from "../../formats/format-errors.ts";
import { publishFolder } from "../../platform/node/atomic-folder.ts";
import { syncFolder } from "../../platform/node/atomic-write.ts";
import { blobPath, linkTo } from "./blobs.ts";
import { errorCode, diskError, withDiskErrors, statOrUndefined } from "../../storage/disk.ts";
import { toSha256 } from "../../storage/sha256.ts";
import type { StoreLayout } from "./layout.ts";
import type { StoredFile } from "./model-record.ts";
import { pathsProblem } from "./record-validation.ts";
import { stagingName } from "../../storage/staging.ts";

type TreeFile = Pick<StoredFile, "path" | "sha256">;

/**
 * The name of a tree (the store's folder of links to the blobs of one model): SHA-256 of its lines "path sha256", sorted by path.
 */
export function treeDigest(files: readonly TreeFile[]): string {
  const lines = files.map(({ path, sha256 }) => `${path} ${sha256}\n`).sort();
  return toSha256(lines.join(""));
}

/** Absolute path of the tree with this digest. A tree is a folder of links to the blobs of one model. */
export function treePath({ trees }: StoreLayout, digest: string): string {
  return join(trees, digest);
}

/** Whether every file of the tree links to the blob that the store has now. A damaged blob that was fetched again is another file. */
async function isIntact(layout: StoreLayout, folder: string, files: readonly TreeFile[]): Promise<boolean> {
  for (const { path, sha256 } of files) {
    const [shown, blob] = await Promise.all([statOrUndefined(join(folder, path)), statOrUndefined(blobPath(layout, sha256))]);
    if (shown === undefined || blob === undefined || shown.ino !== blob.ino || shown.dev !== blob.dev) return false;
  }
  return true;
}

/**
 * Creates the tree of these files, a folder of links to their blobs, and returns its digest. Throws an error with the code ENOENT
 * if a blob is missing, DISK_FULL or OUTPUT_FAILED otherwise.
 */
export async function publishTree(layout: StoreLayout, files: readonly TreeFile[]): Promise<string> {
  const digest = treeDigest(files);
  const folder = treePath(layout, digest);
  const isThere = (await statOrUndefined(folder)) !== undefined;
  if (isThere && (await isIntact(layout, folder, files))) return digest;
  const staging = join(layout.trees, stagingName("building"));
  try {
    await buildTree(layout, staging, files);
    if (isThere) await removeTree(layout, digest);
    await publishFolder(staging, folder, () => isIntact(layout, folder, files));
  } catch (error) {
    throw errorCode(error) === "ENOENT" ? error : diskError(folder, error);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return digest;
}

/**
 * Runs `work` on a temporary tree of these files (a folder of links to their blobs), so that a model can be read before it is
 * published. Throws as `publishTree` does.
 */
export async function withTemporaryTree<Result>(
  layout: StoreLayout,
  files: readonly TreeFile[],
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const staging = join(layout.trees, stagingName("building"));
  try {
    await buildTree(layout, staging, files).catch((error: unknown) => {
      throw errorCode(error) === "ENOENT" ? error : diskError(staging, error);
    });
    return await work(staging);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function buildTree(layout: StoreLayout, staging: string, files: readonly TreeFile[]): Promise<void> {
  const problem = pathsProblem(files.map(({ path }) => path));
  if (problem !== undefined)
    throw modelInvalid(`the files make no model: ${problem}`, "nothing was written; check the reference");
  const folders = new Set<string>([staging]);
  await mkdir(staging, { recursive: true });
  for (const { path, sha256 } of files) {
    const link = join(staging, path);
    const folder = dirname(link);
    if (!folders.has(folder)) await mkdir(folder, { recursive: true });
    folders.add(folder);
    const blob = blobPath(layout, sha256);
    // The temporary folder and the final one have the same depth, so the same relative link is valid in both.
    await linkTo(blob, link, relative(folder, blob));
  }
  for (const folder of folders) await syncFolder(folder);
}

/** Removes a tree of links from the store. It is renamed first, so that no process sees a part of it. */
export async function removeTree(layout: StoreLayout, digest: string): Promise<void> {
  const removed = join(layout.trees, stagingName("removing"));
  await withDiskErrors(removed, async () => {
    await rename(treePath(layout, digest), removed).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    });
    await rm(removed, { recursive: true, force: true });
  });
}
