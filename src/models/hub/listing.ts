/** What a revision of a repository holds: paths, sizes and digests, as the hub lists them. The hub's word is not trusted further than that. */
import { InferyardError, messageOf } from "../../errors.ts";
import { checkEntryName, entryKey } from "../aimod/entry-name.ts";
import type { HubReference } from "../reference/remote-reference.ts";
import { type Network, sendRequest } from "./request.ts";
import { TransientError, type Retry, withRetries } from "./retry.ts";

/** A file to be had. One of the digests is there. */
export interface HubFile {
  readonly path: string;
  readonly size: number;
  /** Hexadecimal: of large files, which the hub keeps outside git. */
  readonly sha256?: string;
  /** Of the others: SHA-1 of the git blob. */
  readonly gitSha1?: string;
  /** Where it lies on this machine already, outside the store. */
  readonly local?: string;
}

export interface Listing {
  /** Hexadecimal. */
  readonly commit: string;
  readonly files: readonly HubFile[];
}

/** No model comes near these. */
const maxFiles = 100_000;
const maxFileBytes = 2 ** 46;
/** Bytes of one page of the listing. */
const maxPageBytes = 64 * 1024 * 1024;
/** The hub's pages have a thousand entries. */
const maxPages = 200;

export interface ListingOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

export async function readListing(network: Network, reference: HubReference, options: ListingOptions = {}): Promise<Listing> {
  const { repository, revision } = reference;
  const what = `hf:${repository}${revision === "main" ? "" : `@${revision}`}`;
  try {
    return await listWithLibrary(network, reference, what, options);
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    // JSON, but not in the hub's form: the library stumbles over it.
    throw new InferyardError("MODEL_INVALID", `the listing of ${what} is none: ${messageOf(error)}`, {
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

/** Names become paths and digests become file names: both must be what they are said to be. */
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

/** Names that are merely odd, as on Windows, matter only when the file is wanted. */
function isDangerous(path: string): boolean {
  return /[\\\p{Cc}]|^\/|^[a-zA-Z]:|(^|\/)\.\.?(\/|$)|\/\/|\/$|^$/u.test(path);
}

/** For the files that are wanted: each must have a name that means the same file everywhere, and no other file. */
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

/** The library asks through us: each of its requests has the token where it belongs, is tried again, and is read whole and within bounds. */
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

/** A proxy's page in place of the hub's answer, or half an answer. */
function refuseNonJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new TransientError("the answer is not the hub's, or not all of it", { cause: error });
  }
}
