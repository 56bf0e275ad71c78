/**
 * Storage of models in the browser's Cache API. A file's path is the URL that it is stored under. A missing file is stored as
 * well, as a response with status 404, so that offline use needs no request.
 */
import { InferyardError, getMessage, wrapError } from "../../contract/errors.ts";
import { type BrowserCache, browserScope } from "./global-scope.ts";

const cacheName = "inferyard-models";

/** A file in the browser's cache, or the record that the server has no such file. */
export interface CachedFile {
  readonly url: string;
  /** false: the server has no such file. */
  readonly exists: boolean;
  /** Bytes. */
  readonly size: number;
  /** Time of storing in milliseconds since 1970. */
  readonly cachedAt: number;
  /** Version from the server: the ETag, or date and length. Empty if the server gave none. */
  readonly version: string;
  bytes(): Promise<Blob>;
}

const headers = { keptAt: "x-inferyard-kept-at", size: "x-inferyard-size", version: "x-inferyard-version" };

/** Finds a file in the browser's cache by its URL. Returns undefined if the cache has no record of it. */
export async function findCachedFile(url: string): Promise<CachedFile | undefined> {
  const response = await (await openCache()).match(url);
  return response === undefined ? undefined : described(url, response);
}

/** All cached files below a folder that exist on the server. */
export async function listCachedFiles(folder: string): Promise<CachedFile[]> {
  const cache = await openCache();
  const urls = (await cache.keys()).map(({ url }) => url).filter((url) => url.startsWith(`${folder}/`));
  const files = await Promise.all(urls.map((url) => findCachedFile(url)));
  return files.flatMap((file) => (file?.exists === true ? [file] : []));
}

/**
 * Stores a file in the browser's cache; `undefined` as content records that the server has no such file. Throws DISK_FULL if the
 * browser's quota is exceeded.
 */
export async function cacheFile(url: string, content: Blob | undefined, version: string): Promise<void> {
  const response = new Response(content ?? null, {
    status: content === undefined ? 404 : 200,
    headers: {
      [headers.keptAt]: String(Date.now()),
      [headers.size]: String(content?.size ?? 0),
      [headers.version]: encodeURIComponent(version),
    },
  });
  const cache = await openCache();
  try {
    await cache.put(url, response);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "QuotaExceededError")
      throw wrapError(error, "DOWNLOAD_FAILED", `the browser would not keep ${url}`);
    throw new InferyardError("DISK_FULL", `the browser has no room for ${url} (${content?.size ?? 0} bytes)`, {
      cause: error,
      remedy: "free space on the device, delete data of this site, or choose a smaller variant",
    });
  }
}

function described(url: string, response: Response): CachedFile {
  const stated = (name: string): string => response.headers.get(name) ?? "";
  return {
    url,
    exists: response.status === 200,
    size: Number(stated(headers.size)),
    cachedAt: Number(stated(headers.keptAt)),
    version: decodeURIComponent(stated(headers.version)),
    bytes: () => response.blob(),
  };
}

async function openCache(): Promise<BrowserCache> {
  const { caches } = browserScope();
  if (caches === undefined) throw insecure();
  try {
    return await caches.open(cacheName);
  } catch (error) {
    throw wrapError(error, "LOAD_FAILED", `the browser refuses its Cache API: ${getMessage(error)}`);
  }
}

function insecure(): InferyardError {
  return new InferyardError("CONFIG_INVALID", "this page has no Cache API, where models are kept: it is not a secure context", {
    remedy: "serve the page over https, or from localhost",
  });
}
