/** Blobs: the contents of files, each stored once under its SHA-256 and never modified. */
import { createHash } from "node:crypto";
import { chmod, link, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { throwIfAborted } from "../../contract/errors.ts";
import { readChunks } from "../../platform/node/read-chunks.ts";
import { syncFolder } from "../../platform/node/atomic-write.ts";
import { errorCode, diskError, touch, withDiskErrors, statOrUndefined } from "../../storage/disk.ts";
import { writeFileAtomically } from "../../storage/atomic-write.ts";
import type { StoreLayout } from "./layout.ts";
import { isSha256 } from "./record-validation.ts";

/** Absolute path of the blob with this digest. A blob is the content of a file in the store, named by its SHA-256. */
export function blobPath({ blobs }: StoreLayout, sha256: string): string {
  return join(blobs, sha256);
}

/** Whether the store has the blob and, if `size` is given, whether it has that many bytes. */
export async function hasBlob(layout: StoreLayout, sha256: string, size?: number): Promise<boolean> {
  const status = await statOrUndefined(blobPath(layout, sha256));
  return status !== undefined && status.isFile() && (size === undefined || status.size === size);
}

/**
 * Moves a file into the store as a blob, by a rename on the same file system. The caller has flushed it and verified its digest.
 * Throws DISK_FULL or OUTPUT_FAILED.
 */
export async function publishBlob(layout: StoreLayout, file: string, sha256: string): Promise<void> {
  const path = blobPath(layout, sha256);
  await withDiskErrors(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    await rename(file, path);
    await chmod(path, 0o444); // last: a read-only partial file could not be appended to after a crash
    await syncFolder(dirname(path));
  });
}

/** Adds a file of this machine to the store as a hard link or, if that fails, a symbolic one. The caller has verified its digest. */
export async function adoptBlob(layout: StoreLayout, file: string, sha256: string): Promise<void> {
  const path = blobPath(layout, sha256);
  await withDiskErrors(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true }); // a blob of the wrong size, or a broken link
    await linkTo(file, path, file);
  });
}

/** Creates `path` as a hard link to `file`, or as a symbolic link to `target` if the file system has no hard links or the file is on another one. */
export async function linkTo(file: string, path: string, target: string): Promise<void> {
  try {
    await link(file, path);
  } catch (error) {
    if (!["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EACCES"].includes(errorCode(error) ?? "")) throw error;
    await symlink(target, path);
  }
}

/** Sets the modification time of the blob to now, so that a concurrent `prune` keeps it. */
export async function touchBlob(layout: StoreLayout, sha256: string): Promise<void> {
  await touch(blobPath(layout, sha256));
}

/** Removes the blob with this digest. Does nothing if the store does not have it. */
export async function removeBlob(layout: StoreLayout, sha256: string): Promise<void> {
  const path = blobPath(layout, sha256);
  await withDiskErrors(path, () => rm(path, { force: true }));
}

/** The SHA-256 of the file with this git digest, or undefined if the store has never had it. */
export async function sha256ForGitDigest({ gitDigests }: StoreLayout, gitSha1: string): Promise<string | undefined> {
  const path = join(gitDigests, gitSha1);
  try {
    const text = (await readFile(path, "utf8")).trim();
    return isSha256(text) ? text : undefined;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw diskError(path, error);
  }
}

/** Records the SHA-256 of the file with this git digest, for `sha256ForGitDigest`. */
export async function recordGitDigest({ gitDigests }: StoreLayout, gitSha1: string, sha256: string): Promise<void> {
  await withDiskErrors(gitDigests, () => mkdir(gitDigests, { recursive: true }));
  await writeFileAtomically(join(gitDigests, gitSha1), `${sha256}\n`);
}

/** Digests of a file, in hexadecimal: its SHA-256, and the SHA-1 of its git blob, by which the hub identifies small files. */
export interface Digests {
  readonly sha256: string;
  readonly gitSha1?: string;
}

/** Computes digests of content that is passed in chunks. `gitSize`: size of the content in bytes, if the git digest is wanted (SHA-1 of "blob <size>\0" and the content). */
export function contentHash(gitSize?: number): { update(chunk: Uint8Array): void; digest(): Digests } {
  const sha256 = createHash("sha256");
  const git = gitSize === undefined ? undefined : createHash("sha1").update(`blob ${gitSize}\0`);
  return {
    update: (chunk) => {
      sha256.update(chunk);
      git?.update(chunk);
    },
    digest: () => ({ sha256: sha256.digest("hex"), ...(git === undefined ? {} : { gitSha1: git.digest("hex") }) }),
  };
}

/** Passes the content of a file to a hash, in chunks of 1 MiB. Throws ABORTED if `signal` is aborted. */
export async function hashInto(hash: { update(chunk: Uint8Array): void }, path: string, signal?: AbortSignal): Promise<void> {
  for await (const chunk of readChunks(path)) {
    throwIfAborted(signal);
    hash.update(chunk);
  }
}
