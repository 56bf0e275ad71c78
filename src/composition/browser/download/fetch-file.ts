/** Downloads one file of a model over HTTP, if it is not cached or the server has another version. */
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError, abortError, getMessage } from "../../../contract/errors.ts";
import type { PullMeter } from "../../../models/hub/progress.ts";
import { sha256OfBlob } from "../../../platform/browser/files.ts";
import { cacheFile, findCachedFile } from "../../../platform/browser/model-cache.ts";
import { browserScope } from "../../../platform/browser/global-scope.ts";

/** One file of a model to be fetched into the browser's cache. */
export interface FileRequest {
  /** Name of the file, relative to the model's folder. */
  readonly file: string;
  /** URL to download from. */
  readonly source: string;
  /** URL that the file is stored under in the cache. */
  readonly path: string;
  /** State shared by the files of one load. `silent` becomes true when the server does not respond. */
  readonly server: { silent: boolean };
  readonly meter: PullMeter;
  /** Whether this is the last file of the load, the weights. Its size determines the progress. */
  readonly isLast: boolean;
  /** Whether network requests are disabled. */
  readonly offline: boolean;
  /** Size in bytes and hexadecimal SHA-256 from a manifest. A file that differs from them is not stored. */
  readonly stated?: { readonly size?: number; readonly sha256?: string };
  readonly signal?: AbortSignal;
}

/** HTTP statuses of a file that does not exist. Servers without listings may answer 403 instead, and the hub 401. */
const absent = new Set([404, 410]);
const refused = new Set([401, 403]);

/**
 * Downloads a file into the browser's cache. Returns "kept" if it is cached, "absent" if the server does not have it, "refused"
 * if the server denies access. A cached file is compared with the server's version first, and used unchanged if the server cannot
 * be reached. Throws ABORTED, DOWNLOAD_FAILED or DISK_FULL.
 */
export async function fetchFile(request: FileRequest): Promise<"kept" | "absent" | "refused"> {
  const kept = await findCachedFile(request.path);
  if (request.offline) return kept?.exists === true ? "kept" : "absent";
  if (kept !== undefined && !(await hasChanged(request, kept))) return kept.exists ? "kept" : "absent";
  const response = await ask(request, "GET");
  if (refused.has(response.status)) return "refused";
  // A server of a single-page application answers with its HTML page for a missing file.
  if (absent.has(response.status) || isPage(response)) {
    await response.body?.cancel();
    await cacheFile(request.path, undefined, "");
    return "absent";
  }
  if (!response.ok) throw failed(request, `the server answered ${response.status}`, { status: response.status });
  const content = await receive(request, response);
  await verifyContent(request, content);
  await cacheFile(request.path, content, getVersion(response));
  return "kept";
}

/** Milliseconds to wait for the server's version before the cached file is used. */
const revalidationTimeoutMs = 5000;

/** Whether the server has another version. HEAD needs no CORS preflight, unlike a conditional GET. A server that does not respond counts as unchanged. */
async function hasChanged(request: FileRequest, kept: { readonly exists: boolean; readonly version: string }): Promise<boolean> {
  if (request.server.silent) return false;
  let response: Response;
  try {
    response = await ask(request, "HEAD");
  } catch (error) {
    if (!(error instanceof InferyardError) || error.code !== "DOWNLOAD_FAILED") throw error;
    request.server.silent = true;
    return false;
  }
  if (absent.has(response.status) || isPage(response)) return kept.exists;
  if (!response.ok) return false;
  const version = getVersion(response);
  return !kept.exists || (version !== "" && version !== kept.version);
}

async function ask(request: FileRequest, method: "GET" | "HEAD"): Promise<Response> {
  const { signal, source } = request;
  const limits = [
    ...(signal === undefined ? [] : [signal]),
    ...(method === "HEAD" ? [AbortSignal.timeout(revalidationTimeoutMs)] : []),
  ];
  try {
    // HEAD bypasses the browser's HTTP cache: an old response would hide a new version.
    return await browserScope().fetch(source, {
      method,
      cache: method === "HEAD" ? "no-store" : "no-cache",
      signal: AbortSignal.any(limits),
    });
  } catch (error) {
    throw interrupted(request, error);
  }
}

async function receive(request: FileRequest, response: Response): Promise<Blob> {
  const { body } = response;
  if (body === null) return new Blob([]);
  const length = Number(response.headers.get("content-length") ?? 0);
  if (request.isLast && length > 0) request.meter.totalBytes = request.meter.fetched + length;
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (const reader = body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value as Uint8Array<ArrayBuffer>);
      request.meter.addReceived(value.byteLength, request.file);
    }
  } catch (error) {
    throw interrupted(request, error);
  }
  return new Blob(pieces);
}

async function verifyContent(request: FileRequest, content: Blob): Promise<void> {
  const { size, sha256 } = request.stated ?? {};
  if (size !== undefined && content.size !== size)
    throw failed(request, `${content.size} bytes came, and the model's manifest says ${size}`);
  if (sha256 === undefined) return;
  const digest = await sha256OfBlob(content);
  if (digest !== sha256.toLowerCase()) throw failed(request, `its sha256 is ${digest}, and the model's manifest says ${sha256}`);
}

/** The ETag if this page may read it (another origin must expose it by CORS), else Last-Modified and Content-Length. */
function getVersion({ headers }: Response): string {
  const tag = headers.get("etag");
  if (tag !== null) return tag;
  return [headers.get("last-modified"), headers.get("content-length")].filter((part) => part !== null).join(" ");
}

/** Whether the response is an HTML page instead of the requested file. */
function isPage({ ok, headers }: Response): boolean {
  return ok && (headers.get("content-type") ?? "").startsWith("text/html");
}

/** The error of a rejected `fetch`, which does not distinguish a failed connection, an interrupted one, and a response blocked by CORS. */
function interrupted(request: FileRequest, error: unknown): InferyardError {
  if (request.signal?.aborted) return abortError(request.signal);
  return failed(request, getMessage(error), {}, error);
}

function failed(
  request: FileRequest,
  why: string,
  data: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): InferyardError {
  return new InferyardError("DOWNLOAD_FAILED", `${request.source} could not be fetched: ${why}`, {
    data: { url: request.source, ...data },
    remedy: "try again; look at the address, the connection, and whether the server lets this page read it (CORS)",
    ...omitUndefined({ cause }),
  });
}
