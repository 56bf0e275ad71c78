/** Folders of links to blobs: what the readers of models see. A tree appears whole, under the digest of its list of files, and never changes. */
import { createHash } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { modelInvalid } from "../../formats/format-errors.ts";
import { syncFolder } from "../sync-folder.ts";
import { blobPath, linkTo } from "./blobs.ts";
import { errorCode, diskError, withDiskErrors, statOrUndefined } from "./disk.ts";
import type { StoreLayout } from "./layout.ts";
import type { StoredFile } from "./record.ts";
import { pathsProblem } from "./record-validation.ts";
import { stagingName } from "./staging.ts";

type TreeFile = Pick<StoredFile, "path" | "sha256">;

/** The name of a tree: SHA-256 of its lines "path sha256", sorted by path. */
export function treeDigest(files: readonly TreeFile[]): string {
  const lines = files.map(({ path, sha256 }) => `${path} ${sha256}\n`).sort();
  return createHash("sha256").update(lines.join("")).digest("hex");
}

export function treePath({ trees }: StoreLayout, digest: string): string {
  return join(trees, digest);
}

/** Whether the tree is there and shows the blobs the store has now; a damaged blob that was fetched again is another file. */
async function isIntact(layout: StoreLayout, folder: string, files: readonly TreeFile[]): Promise<boolean> {
  for (const { path, sha256 } of files) {
    const [shown, blob] = await Promise.all([statOrUndefined(join(folder, path)), statOrUndefined(blobPath(layout, sha256))]);
    if (shown === undefined || blob === undefined || shown.ino !== blob.ino || shown.dev !== blob.dev) return false;
  }
  return true;
}

/** Publishes the tree of these files and gives its digest. Every blob must be there: a missing one is ENOENT, as the disk tells it. */
export async function publishTree(layout: StoreLayout, files: readonly TreeFile[]): Promise<string> {
  const digest = treeDigest(files);
  const folder = treePath(layout, digest);
  const isThere = (await statOrUndefined(folder)) !== undefined;
  if (isThere && (await isIntact(layout, folder, files))) return digest;
  const staging = join(layout.trees, stagingName("building"));
  try {
    await buildTree(layout, staging, files);
    if (isThere) await removeTree(layout, digest);
    await rename(staging, folder).catch(async (error: unknown) => {
      // Another process was faster; its folder is the same.
      if (!(await isIntact(layout, folder, files))) throw error;
    });
    await syncFolder(layout.trees);
  } catch (error) {
    throw errorCode(error) === "ENOENT" ? error : diskError(folder, error);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return digest;
}

/** A folder of links that is gone when `work` ends: for looking at files before they are a model. */
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
    const place = join(staging, path);
    const folder = dirname(place);
    if (!folders.has(folder)) await mkdir(folder, { recursive: true });
    folders.add(folder);
    const blob = blobPath(layout, sha256);
    // The staging folder and the final one lie at the same depth, so the same relative link holds in both.
    await linkTo(blob, place, relative(folder, blob));
  }
  for (const folder of folders) await syncFolder(folder);
}

/** Takes the folder out of sight first, so that nobody sees half of it. */
export async function removeTree(layout: StoreLayout, digest: string): Promise<void> {
  const aside = join(layout.trees, stagingName("removing"));
  await withDiskErrors(aside, async () => {
    await rename(treePath(layout, digest), aside).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    });
    await rm(aside, { recursive: true, force: true });
  });
}
