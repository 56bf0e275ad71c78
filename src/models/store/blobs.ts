/** Content, kept once under its SHA-256 and never written to again. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, link, mkdir, readFile, rename, rm, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { throwIfAborted } from "../../errors.ts";
import { syncFolder } from "../sync-folder.ts";
import { errorCode, diskError, withDiskErrors, statOrUndefined } from "./disk.ts";
import { writeFileAtomically } from "./atomic-write.ts";
import type { StoreLayout } from "./layout.ts";
import { isSha256 } from "./record-validation.ts";

export function blobPath({ blobs }: StoreLayout, sha256: string): string {
  return join(blobs, sha256);
}

/** Whether the blob is there, with this size where one is given. */
export async function hasBlob(layout: StoreLayout, sha256: string, size?: number): Promise<boolean> {
  const status = await statOrUndefined(blobPath(layout, sha256));
  return status !== undefined && status.isFile() && (size === undefined || status.size === size);
}

/** Makes a file that was written and synchronised a blob. Its digest is the caller's promise. */
export async function publishBlob(layout: StoreLayout, file: string, sha256: string): Promise<void> {
  const path = blobPath(layout, sha256);
  await withDiskErrors(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    await rename(file, path);
    await chmod(path, 0o444); // afterwards: a file under way that was left read-only could not be gone on with
    await syncFolder(dirname(path));
  });
}

/** Takes a file from elsewhere on this machine into the store without copying it: as a hard link, or as a symbolic one where that fails. */
export async function adoptBlob(layout: StoreLayout, file: string, sha256: string): Promise<void> {
  const path = blobPath(layout, sha256);
  await withDiskErrors(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true }); // one of another size, or a link that leads nowhere
    await linkTo(file, path, file);
  });
}

/** A hard link, or a symbolic one to `target` where the file system has none or the file lies on another one. */
export async function linkTo(file: string, path: string, target: string): Promise<void> {
  try {
    await link(file, path);
  } catch (error) {
    if (!["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EACCES"].includes(errorCode(error) ?? "")) throw error;
    await symlink(target, path);
  }
}

/** Tells a `prune` beside it that the blob is wanted. */
export async function touchBlob(layout: StoreLayout, sha256: string): Promise<void> {
  const path = blobPath(layout, sha256);
  const now = new Date();
  try {
    await utimes(path, now, now);
  } catch (error) {
    if (!["EROFS", "EACCES", "EPERM", "ENOENT"].includes(errorCode(error) ?? "")) throw diskError(path, error);
  }
}

export async function removeBlob(layout: StoreLayout, sha256: string): Promise<void> {
  const path = blobPath(layout, sha256);
  await withDiskErrors(path, () => rm(path, { force: true }));
}

/** The SHA-256 of a file the hub knows by its git digest, where the store has seen it. */
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

export async function recordGitDigest({ gitDigests }: StoreLayout, gitSha1: string, sha256: string): Promise<void> {
  await withDiskErrors(gitDigests, () => mkdir(gitDigests, { recursive: true }));
  await writeFileAtomically(join(gitDigests, gitSha1), `${sha256}\n`);
}

/** What content is known by: its SHA-256, and for small files of the hub the digest git gives them. */
export interface Digests {
  readonly sha256: string;
  readonly gitSha1?: string;
}

/** Digests of content as it passes. `gitSize`: its size, where git's digest is wanted (git hash-object: "blob <size>\0" and the content). */
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

/** Feeds a file to a hash. */
export async function hashInto(hash: { update(chunk: Uint8Array): void }, path: string, signal?: AbortSignal): Promise<void> {
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1024 * 1024 });
  for await (const chunk of chunks) {
    throwIfAborted(signal);
    hash.update(chunk);
  }
}
