/**
 * Reads the cache of huggingface_hub and never writes to it: `models--owner--name/` with `refs/<revision>` (a commit), `snapshots/<commit>/` (links) and
 * `blobs/<digest>` (https://huggingface.co/docs/huggingface_hub/guides/manage-cache). The store links to its files instead of copying them.
 */
import { readFile, readdir, realpath } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { errorCode, statOrUndefined } from "../../storage/disk.ts";
import { contentHash, hashInto } from "../store/blobs.ts";
import { withReadErrors } from "../../formats/format-errors.ts";
import type { HubReference } from "../reference/remote-reference.ts";
import type { HubFile, Listing } from "./listing.ts";

function repositoryFolder(cacheFolder: string, repository: string): string {
  return join(cacheFolder, `models--${repository.replaceAll("/", "--")}`);
}

/**
 * Lists the files of a revision that Hugging Face's cache on this machine has, in the form of a listing of the hub. Returns
 * undefined if it has none of the revision. Throws MODEL_INVALID if the cache cannot be read.
 */
export async function readCachedListing(cacheFolder: string, reference: HubReference): Promise<Listing | undefined> {
  return withReadErrors(cacheFolder, () => readListing(cacheFolder, reference));
}

async function readListing(cacheFolder: string, reference: HubReference): Promise<Listing | undefined> {
  const folder = repositoryFolder(cacheFolder, reference.repository);
  const commit = await getCommit(folder, reference.revision);
  if (commit === undefined) return undefined;
  const snapshot = join(folder, "snapshots", commit);
  const entries = await readdir(snapshot, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
  const files: HubFile[] = [];
  for (const entry of entries) {
    const local = join(entry.parentPath, entry.name);
    const status = await statOrUndefined(local);
    if (status?.isFile() !== true) continue;
    const path = local.slice(snapshot.length + 1).replaceAll(sep, "/");
    files.push({ path, size: status.size, local, ...(await digestOfCached(local)) });
  }
  return files.length === 0 ? undefined : { commit, files };
}

async function getCommit(folder: string, revision: string): Promise<string | undefined> {
  const text = await readFile(join(folder, "refs", revision), "utf8").catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(errorCode(error) ?? "")) return revision; // the revision may be a commit
    throw error;
  });
  return /^[0-9a-f]{40}$/.test(text.trim()) ? text.trim() : undefined;
}

/** Blobs are named by their digest. Where links are not possible, the cache has plain files, whose digest is computed. */
async function digestOfCached(path: string): Promise<Pick<HubFile, "sha256" | "gitSha1">> {
  const name = basename(await realpath(path));
  if (/^[0-9a-f]{64}$/.test(name)) return { sha256: name };
  if (/^[0-9a-f]{40}$/.test(name)) return { gitSha1: name };
  const hash = contentHash();
  await hashInto(hash, path);
  return { sha256: hash.digest().sha256 };
}

/**
 * Absolute path of the file in Hugging Face's cache with this digest and size, or undefined if the cache has none. The content
 * may be damaged; the caller verifies the digest.
 */
export async function cachedBlob(
  cacheFolder: string,
  repository: string,
  { sha256, gitSha1, size }: HubFile,
): Promise<string | undefined> {
  const digest = sha256 ?? gitSha1;
  if (digest === undefined) return undefined;
  const path = join(repositoryFolder(cacheFolder, repository), "blobs", digest);
  const status = await statOrUndefined(path);
  // The blob may be a link itself; the store links to its target.
  return status?.isFile() === true && status.size === size ? await realpath(path) : undefined;
}
