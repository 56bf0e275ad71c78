/** Makes a file of a model a blob of the store: from the store itself, from Hugging Face's cache, or over the network. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import {
  type Digests,
  adoptBlob,
  blobPath,
  contentHash,
  hasBlob,
  hashInto,
  publishBlob,
  recordGitDigest,
  removeBlob,
  sha256ForGitDigest,
  touchBlob,
} from "../store/blobs.ts";
import { withDiskErrors, statOrUndefined } from "../../storage/disk.ts";
import type { StoreLayout } from "../store/layout.ts";
import { withLock } from "../../storage/lock.ts";
import type { StoredFile } from "../store/model-record.ts";
import { cachedBlob } from "./cache.ts";
import type { HubFile } from "./listing.ts";
import type { PullMeter } from "./progress.ts";
import type { Network } from "./request.ts";
import { type TransferResult, ContentMismatchError, transfer } from "./transfer.ts";

/**
 * A file of a model that a pull must obtain from the store, a cache or the network. `size` is absent if only the server knows it.
 */
export interface WantedFile extends Omit<HubFile, "size"> {
  readonly size?: number;
  readonly url: string;
  /** Name of the file in messages: "config.json of hf:owner/name". */
  readonly what: string;
}

/** Where `obtainFile` looks for a file: the store, Hugging Face's cache, and the network. */
export interface ObtainContext {
  readonly layout: StoreLayout;
  /** Access to the network; undefined if the pull is offline. */
  readonly network: Network | undefined;
  /** Folder of Hugging Face's cache, and the repository in it. Absent for files from a URL. */
  readonly cache?: { readonly folder: string; readonly repository: string };
  readonly meter: PullMeter;
  readonly signal?: AbortSignal | undefined;
}

/**
 * File name of the incomplete download of a file. It follows from the digest, so that two pulls of the same content continue the
 * same download.
 */
export function downloadName({ sha256, gitSha1 }: Pick<HubFile, "sha256" | "gitSha1">): string {
  return sha256 === undefined ? `git-${gitSha1}` : `sha256-${sha256}`;
}

/**
 * Obtains a file from the store, Hugging Face's cache or the network, in this order, and returns its entry in the store. Throws DOWNLOAD_FAILED if the digest
 * of the download is wrong twice, MODEL_NOT_FOUND if the pull is offline, and any error of fetching.
 */
export async function obtainFile(file: WantedFile, context: ObtainContext): Promise<StoredFile> {
  const { layout, meter, signal } = context;
  const own = (await fromStore(file, context)) ?? (await fromCache(file, context));
  if (own !== undefined) return countExisting(own, meter);
  const { network } = context;
  if (network === undefined) throw offlineError(file.what);
  const onWait = ({ pid, host }: { readonly pid: number; readonly host: string }): void =>
    meter.report("waiting", { file: file.path, note: `process ${pid} on ${host} is fetching ${file.path}` });
  return await withLock(
    join(layout.locks, `${downloadName(file)}.lock`),
    async () => {
      const meanwhile = await fromStore(file, context);
      if (meanwhile !== undefined) return countExisting(meanwhile, meter);
      return await fromNetwork(file, network, context);
    },
    { signal, onWait },
  );
}

function countExisting(file: StoredFile, meter: PullMeter): StoredFile {
  meter.addExisting(file.size);
  meter.report("fetching", { file: file.path });
  return file;
}

/** The file, if the store has it. Its digest is verified, and a damaged blob is removed, so that a pull repairs the store. */
async function fromStore(file: WantedFile, { layout, signal }: ObtainContext): Promise<StoredFile | undefined> {
  const sha256 = file.sha256 ?? (file.gitSha1 === undefined ? undefined : await sha256ForGitDigest(layout, file.gitSha1));
  if (sha256 === undefined || !(await hasBlob(layout, sha256, file.size))) return undefined;
  const path = blobPath(layout, sha256);
  if (!matchesDigest(await computeDigests(path, file, signal), { ...file, sha256 })) {
    await removeBlob(layout, sha256);
    return undefined;
  }
  await touchBlob(layout, sha256);
  return storedFile(file, sha256, (await statOrUndefined(path))?.size ?? 0);
}

async function fromCache(file: WantedFile, { layout, cache, signal }: ObtainContext): Promise<StoredFile | undefined> {
  const { size } = file;
  if (cache === undefined || size === undefined) return undefined;
  const path = file.local ?? (await cachedBlob(cache.folder, cache.repository, { ...file, size }));
  if (path === undefined) return undefined;
  const digests = await computeDigests(path, file, signal);
  if (!matchesDigest(digests, file)) return undefined; // damaged: it is fetched from the hub
  await adoptBlob(layout, path, digests.sha256);
  if (file.gitSha1 !== undefined) await recordGitDigest(layout, file.gitSha1, digests.sha256);
  return storedFile(file, digests.sha256, size);
}

async function fromNetwork(file: WantedFile, network: Network, { layout, meter, signal }: ObtainContext): Promise<StoredFile> {
  const partial = join(layout.downloads, `${downloadName(file)}.partial`);
  const { path, url, what, size } = file;
  const request = {
    url,
    what,
    partial,
    size,
    git: file.gitSha1 !== undefined,
    signal,
    onExisting: (bytes: number) => meter.addExisting(bytes),
    onReceived: (bytes: number) => meter.addReceived(bytes, path),
    onDiscarded: (bytes: number) => meter.subtractDiscarded(bytes),
    onRetry: ({ reason, waitMs }: { readonly reason: string; readonly waitMs: number }) =>
      meter.report("retrying", { file: path, note: `${path}: ${reason}; again in ${(waitMs / 1000).toFixed(1)} s` }),
  };
  // An incomplete download may be damaged. The second attempt starts from the beginning.
  for (let attempt = 1; ; attempt += 1) {
    const { content, problem } = await attemptTransfer(network, request, file);
    if (content !== undefined) {
      await publishBlob(layout, partial, content.sha256);
      if (file.gitSha1 !== undefined) await recordGitDigest(layout, file.gitSha1, content.sha256);
      return storedFile(file, content.sha256, content.size);
    }
    const bytes = (await statOrUndefined(partial))?.size ?? 0;
    await withDiskErrors(partial, () => rm(partial, { force: true }));
    meter.subtractDiscarded(bytes);
    if (attempt === 2) throw digestMismatch(file, problem);
    meter.report("retrying", { file: path, note: `${path}: ${problem}; fetching it again from the start` });
  }
}

type Attempt =
  | { readonly content: TransferResult; readonly problem?: never }
  | { readonly content?: never; readonly problem: string };

async function attemptTransfer(network: Network, request: Parameters<typeof transfer>[1], file: WantedFile): Promise<Attempt> {
  try {
    const content = await transfer(network, request);
    if (matchesDigest(content, file)) return { content };
    const [got, wanted] = file.sha256 === undefined ? [content.gitSha1, file.gitSha1] : [content.sha256, file.sha256];
    return { problem: `what arrived has the digest ${got}, not ${wanted}` };
  } catch (error) {
    if (error instanceof ContentMismatchError) return { problem: error.message };
    throw error;
  }
}

function matchesDigest(digests: Digests, { sha256, gitSha1 }: Pick<HubFile, "sha256" | "gitSha1">): boolean {
  return sha256 === undefined ? digests.gitSha1 === gitSha1 : digests.sha256 === sha256;
}

async function computeDigests(path: string, { size, gitSha1 }: WantedFile, signal: AbortSignal | undefined): Promise<Digests> {
  const hash = contentHash(gitSha1 === undefined ? undefined : size);
  await hashInto(hash, path, signal);
  return hash.digest();
}

function storedFile({ path, gitSha1 }: WantedFile, sha256: string, size: number): StoredFile {
  return { path, size, sha256, ...omitUndefined({ gitSha1 }) };
}

function digestMismatch({ what, url }: WantedFile, problem: string): InferyardError {
  return new InferyardError("DOWNLOAD_FAILED", `${what} is not what was announced, twice: ${problem}`, {
    remedy: "pull again later; if it stays so, the server or something on the way changes the file",
    data: { url, attempts: 2 },
  });
}

/**
 * Creates the MODEL_NOT_FOUND error for a file or listing that is not on this machine while downloads are disabled. `what` is the
 * subject of its message. The error is returned, not thrown.
 */
export function offlineError(what: string): InferyardError {
  return new InferyardError("MODEL_NOT_FOUND", `${what} is not on this machine, and it is offline`, {
    remedy: "pull it with a network; offline is set by HF_HUB_OFFLINE, INFERYARD_OFFLINE or the setting `offline`",
  });
}
