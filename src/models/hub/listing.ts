/** Lists the files of a revision of a repository: paths, sizes and digests. The answer of the hub is untrusted and is validated. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { checkEntryName, entryKey } from "../aimod/entry-name.ts";
import type { HubReference } from "../reference/remote-reference.ts";
import { type Network, sendRequest } from "./request.ts";
import { TransientError, type Retry, withRetries } from "./retry.ts";

/** A file of a hub repository. Exactly one of the digests is present. */
export interface HubFile {
  /** Path relative to the repository, with slashes. */
  readonly path: string;
  /** Bytes of the file. */
  readonly size: number;
  /** Hexadecimal. Of large files, which the hub stores outside git (LFS). */
  readonly sha256?: string;
  /** SHA-1 of the git blob, of all other files. */
  readonly gitSha1?: string;
  /** Absolute path of a copy on this machine outside the store, if there is one. */
  readonly local?: string;
}

/** The files of one commit of a hub repository. */
export interface Listing {
  /** Hexadecimal digest of the commit. */
  readonly commit: string;
  readonly files: readonly HubFile[];
}

/** Limits that no model comes near. */
const maxFiles = 100_000;
const maxFileBytes = 2 ** 46;
/** Bytes of one page of the listing. */
const maxPageBytes = 64 * 1024 * 1024;
/** Pages of a listing; the hub lists a thousand files per page. */
const maxPages = 200;

/** Options for `readListing`: the abort signal, and a callback before each retry. */
export interface ListingOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/**
 * Asks the hub for the files of the revision that a reference names. Throws MODEL_NOT_FOUND or ACCESS_DENIED as the hub answers,
 * MODEL_INVALID for an invalid listing, DOWNLOAD_FAILED if the hub cannot be reached, and ABORTED.
 */
export async function readListing(network: Network, reference: HubReference, options: ListingOptions = {}): Promise<Listing> {
  const { repository, revision } = reference;
  const what = `hf:${repository}${revision === "main" ? "" : `@${revision}`}`;
  try {
    return await listWithLibrary(network, reference, what, options);
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    // Valid JSON of another form makes the library throw errors of its own.
    throw new InferyardError("MODEL_INVALID", `the listing of ${what} does not have the form of a hub's: ${getMessage(error)}`, {
      remedy: "check HF_ENDPOINT: it must be the address of a hub",
      cause: error,
    });
  }
}

async function listWithLibrary(
  network: Network,
  { repository, revision }: HubReference,
  what: string,
  options: ListingOptions,
): Promise<Listing> {
  const { listFiles, modelInfo } = await import("@huggingface/hub");
  const common = { hubUrl: network.endpoint, fetch: libraryFetch(network, what, options) };
  const { sha } = await modelInfo({ ...common, name: repository, revision, additionalFields: ["sha"] });
  if (typeof sha !== "string" || !/^[0-9a-f]{40}$/.test(sha)) throw untrustedListing(what, "no commit", "its commit");
  const files: HubFile[] = [];
  const repo = { type: "model", name: repository } as const;
  for await (const { type, path, size, oid, lfs } of listFiles({ ...common, repo, revision: sha, recursive: true })) {
    if (type !== "file") continue;
    if (files.length >= maxFiles) throw untrustedListing(what, `more than ${maxFiles} files`, "the number of its files");
    const digest = lfs === undefined ? { gitSha1: oid ?? "" } : { sha256: lfs.oid };
    files.push(checkedFile(what, { path, size: lfs?.size ?? size, ...digest }));
  }
  return { commit: sha, files };
}

/** Validates a file of the listing: its name becomes a path, and its digest becomes a file name. */
function checkedFile(what: string, file: HubFile): HubFile {
  const { path, size, sha256, gitSha1 } = file;
  const name: unknown = path;
  if (typeof name !== "string" || isDangerous(name)) throw untrustedListing(what, JSON.stringify(name), "the name of a file");
  if (!Number.isSafeInteger(size) || size < 0 || size > maxFileBytes)
    throw untrustedListing(what, `${path}: ${String(size)}`, "the size of a file");
  const right = sha256 === undefined ? /^[0-9a-f]{40}$/.test(gitSha1 ?? "") : /^[0-9a-f]{64}$/.test(sha256);
  if (!right) throw untrustedListing(what, `${path}: ${JSON.stringify(sha256 ?? gitSha1)}`, "the digest of a file");
  return file;
}

/** Names that are only invalid on some platform are checked by `refuseAmbiguousNames`, if the file is fetched. */
function isDangerous(path: string): boolean {
  return /[\\\p{Cc}]|^\/|^[a-zA-Z]:|(^|\/)\.\.?(\/|$)|\/\/|\/$|^$/u.test(path);
}

/**
 * Throws MODEL_INVALID unless the name of each file refers to the same file on every platform, and no two names refer to the same file. `what` names the model
 * in the message.
 */
export function refuseAmbiguousNames(what: string, files: readonly HubFile[]): void {
  const names = new Set<string>();
  for (const { path } of files) {
    const { refusal } = checkEntryName(path);
    const isTwin = names.has(entryKey(path));
    names.add(entryKey(path));
    if (refusal !== undefined || isTwin) throw untrustedListing(what, JSON.stringify(path), "the name of a file");
  }
}

function untrustedListing(what: string, found: string, where: string): InferyardError {
  return new InferyardError("MODEL_INVALID", `the listing of ${what} has ${found} for ${where}, and is not trusted`, {
    remedy: "check HF_ENDPOINT and the reference; nothing was fetched",
  });
}

/** The `fetch` that the library uses. It sends the token to the endpoint only, retries, and reads each response completely and within limits. */
function libraryFetch(network: Network, what: string, { signal, onRetry }: ListingOptions): typeof globalThis.fetch {
  let pages = 0;
  return async (input, init) => {
    pages += 1;
    if (pages > maxPages) throw untrustedListing(what, `more than ${maxPages} pages`, "its length");
    const url = input instanceof Request ? input.url : String(input);
    const headers = Object.fromEntries(new Headers(init?.headers));
    delete headers["authorization"];
    return await withRetries({ timing: network.timing, what, url, signal, onRetry }, () =>
      sendRequest(network, { url, headers, what, signal }, async (answer, body) => {
        const chunks: Uint8Array[] = [];
        let bytes = 0;
        for await (const chunk of body) {
          bytes += chunk.length;
          if (bytes > maxPageBytes) throw untrustedListing(what, `more than ${maxPageBytes} bytes`, "a page");
          chunks.push(chunk);
        }
        const text = Buffer.concat(chunks).toString("utf8");
        refuseNonJson(text);
        const kept = ["content-type", "link"];
        const pairs = kept.flatMap((name) => {
          const value = answer.headers.get(name);
          return value === null ? [] : [[name, value] as const];
        });
        return new Response(text, { status: answer.status, headers: Object.fromEntries(pairs) });
      }),
    );
  };
}

/** Throws TransientError for a text that is not JSON: the page of a proxy, or a truncated response. */
function refuseNonJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new TransientError("the response is not from the hub, or is incomplete", { cause: error });
  }
}
