/** A file of a model becomes a blob: from the store, from Hugging Face's cache, or over the network. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { InferyardError } from "../../errors.ts";
import {
  type Digests,
  adoptBlob,
  blobPath,
  contentHash,
  hasBlob,
  hashInto,
  publishBlob,
  rememberGit,
  removeBlob,
  sha256OfGit,
  touchBlob,
} from "../store/blobs.ts";
import { onDisk, statOrNothing } from "../store/disk.ts";
import type { StoreLayout } from "../store/layout.ts";
import { withLock } from "../store/lock.ts";
import type { StoredFile } from "../store/record.ts";
import { cachedBlob } from "./cache.ts";
import type { HubFile } from "./listing.ts";
import type { PullMeter } from "./progress.ts";
import type { Network } from "./request.ts";
import { type Transferred, WrongContent, transfer } from "./transfer.ts";

/** What is wanted: `size` is left out where only the server knows it. */
export interface WantedFile extends Omit<HubFile, "size"> {
  readonly size?: number;
  readonly url: string;
  /** For messages: "config.json of hf:owner/name". */
  readonly what: string;
}

export interface Obtaining {
  readonly layout: StoreLayout;
  /** Undefined: offline. */
  readonly network: Network | undefined;
  /** Hugging Face's cache of the repository, where there is one. */
  readonly cache?: { readonly folder: string; readonly repository: string };
  readonly meter: PullMeter;
  readonly signal?: AbortSignal | undefined;
}

/** What tells a file under way from others: its digest, so that two pulls of the same content go on with the same file. */
export function downloadName({ sha256, gitSha1 }: Pick<HubFile, "sha256" | "gitSha1">): string {
  return sha256 === undefined ? `git-${gitSha1}` : `sha256-${sha256}`;
}

/** Gives the file as the store has it. Throws DOWNLOAD_FAILED where its digest stays wrong, and what fetching throws. */
export async function obtain(file: WantedFile, context: Obtaining): Promise<StoredFile> {
  const { layout, meter, signal } = context;
  const own = (await fromStore(file, context)) ?? (await fromCache(file, context));
  if (own !== undefined) return found(own, meter);
  const { network } = context;
  if (network === undefined) throw offlineError(file.what);
  const onWait = ({ pid, host }: { readonly pid: number; readonly host: string }): void =>
    meter.tell("waiting", { file: file.path, note: `process ${pid} on ${host} is fetching ${file.path}` });
  return await withLock(
    join(layout.locks, `${downloadName(file)}.lock`),
    async () => {
      const meanwhile = await fromStore(file, context);
      if (meanwhile !== undefined) return found(meanwhile, meter);
      return await fromNetwork(file, network, context);
    },
    { signal, onWait },
  );
}

function found(file: StoredFile, meter: PullMeter): StoredFile {
  meter.found(file.size);
  meter.tell("fetching", { file: file.path });
  return file;
}

/** Reads it through: a pull leaves no damaged file behind, and is what mends one. */
async function fromStore(file: WantedFile, { layout, signal }: Obtaining): Promise<StoredFile | undefined> {
  const sha256 = file.sha256 ?? (file.gitSha1 === undefined ? undefined : await sha256OfGit(layout, file.gitSha1));
  if (sha256 === undefined || !(await hasBlob(layout, sha256, file.size))) return undefined;
  const path = blobPath(layout, sha256);
  if (!isSame(await digestsOf(path, file, signal), { ...file, sha256 })) {
    await removeBlob(layout, sha256);
    return undefined;
  }
  await touchBlob(layout, sha256);
  return stored(file, sha256, (await statOrNothing(path))?.size ?? 0);
}

async function fromCache(file: WantedFile, { layout, cache, signal }: Obtaining): Promise<StoredFile | undefined> {
  const { size } = file;
  if (cache === undefined || size === undefined) return undefined;
  const path = file.local ?? (await cachedBlob(cache.folder, cache.repository, { ...file, size }));
  if (path === undefined) return undefined;
  const digests = await digestsOf(path, file, signal);
  if (!isSame(digests, file)) return undefined; // damaged: the hub has it whole
  await adoptBlob(layout, path, digests.sha256);
  if (file.gitSha1 !== undefined) await rememberGit(layout, file.gitSha1, digests.sha256);
  return stored(file, digests.sha256, size);
}

async function fromNetwork(file: WantedFile, network: Network, { layout, meter, signal }: Obtaining): Promise<StoredFile> {
  const partial = join(layout.downloads, `${downloadName(file)}.partial`);
  const { path, url, what, size } = file;
  const request = {
    url,
    what,
    partial,
    size,
    git: file.gitSha1 !== undefined,
    signal,
    onFound: (bytes: number) => meter.found(bytes),
    onArrived: (bytes: number) => meter.arrived(bytes, path),
    onLost: (bytes: number) => meter.lost(bytes),
    onRetry: ({ reason, waitMs }: { readonly reason: string; readonly waitMs: number }) =>
      meter.tell("retrying", { file: path, note: `${path}: ${reason}; again in ${(waitMs / 1000).toFixed(1)} s` }),
  };
  // A file under way may be left from something else; from the start it must come out right.
  for (let attempt = 1; ; attempt += 1) {
    const { content, problem } = await attemptOf(network, request, file);
    if (content !== undefined) {
      await publishBlob(layout, partial, content.sha256);
      if (file.gitSha1 !== undefined) await rememberGit(layout, file.gitSha1, content.sha256);
      return stored(file, content.sha256, content.size);
    }
    const bytes = (await statOrNothing(partial))?.size ?? 0;
    await onDisk(partial, () => rm(partial, { force: true }));
    meter.lost(bytes);
    if (attempt === 2) throw wrongContent(file, problem);
    meter.tell("retrying", { file: path, note: `${path}: ${problem}; fetching it again from the start` });
  }
}

type Attempt =
  | { readonly content: Transferred; readonly problem?: never }
  | { readonly content?: never; readonly problem: string };

async function attemptOf(network: Network, request: Parameters<typeof transfer>[1], file: WantedFile): Promise<Attempt> {
  try {
    const content = await transfer(network, request);
    if (isSame(content, file)) return { content };
    const [got, wanted] = file.sha256 === undefined ? [content.gitSha1, file.gitSha1] : [content.sha256, file.sha256];
    return { problem: `what arrived has the digest ${got}, not ${wanted}` };
  } catch (error) {
    if (error instanceof WrongContent) return { problem: error.message };
    throw error;
  }
}

function isSame(digests: Digests, { sha256, gitSha1 }: Pick<HubFile, "sha256" | "gitSha1">): boolean {
  return sha256 === undefined ? digests.gitSha1 === gitSha1 : digests.sha256 === sha256;
}

async function digestsOf(path: string, { size, gitSha1 }: WantedFile, signal: AbortSignal | undefined): Promise<Digests> {
  const hash = contentHash(gitSha1 === undefined ? undefined : size);
  await hashInto(hash, path, signal);
  return hash.digest();
}

function stored({ path, gitSha1 }: WantedFile, sha256: string, size: number): StoredFile {
  return { path, size, sha256, ...(gitSha1 === undefined ? {} : { gitSha1 }) };
}

function wrongContent({ what, url }: WantedFile, problem: string): InferyardError {
  return new InferyardError("DOWNLOAD_FAILED", `${what} is not what was announced, twice: ${problem}`, {
    remedy: "pull again later; if it stays so, the server or something on the way changes the file",
    data: { url, attempts: 2 },
  });
}

export function offlineError(what: string): InferyardError {
  return new InferyardError("MODEL_NOT_FOUND", `${what} is not on this machine, and it is offline`, {
    remedy: "pull it with a network; offline is set by HF_HUB_OFFLINE, INFERYARD_OFFLINE or the setting `offline`",
  });
}
