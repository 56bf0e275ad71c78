/**
 * File access in a browser: reads files of the Cache API. Replaces src/platform/node/files.ts, and throws errors with a `code`
 * as it does.
 */
import type { FileStatus, FolderEntry, OpenFile } from "../node/files.ts";
import { type CachedFile, findCachedFile, listCachedFiles } from "./model-cache.ts";

/** Opens a file of the browser's cache for reading at byte offsets. Throws an error with code ENOENT if the cache does not have it. */
export async function openFile(path: string): Promise<OpenFile> {
  const file = await presentFile(path);
  const blob = await file.bytes();
  return {
    stat: async () => getStatus(file),
    async read(target, offset, length, position) {
      const bytes = new Uint8Array(await blob.slice(position, position + length).arrayBuffer());
      target.set(bytes, offset);
      return { bytesRead: bytes.length };
    },
    close: async () => {},
  };
}

/** Synchronous reading is not available in a browser. */
export const openBlocking: undefined = undefined;

/** The content of a file of the browser's cache as UTF-8 text. Throws an error with code ENOENT if the cache does not have it. */
export async function readText(path: string): Promise<string> {
  return (await (await presentFile(path)).bytes()).text();
}

/** The bytes of a whole file of the browser's cache, for engines that cannot open files. */
export async function readBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await (await presentFile(path)).bytes()).arrayBuffer());
}

/**
 * Status of a file or folder of the browser's cache. A folder exists if a file below it does. Throws an error with code ENOENT if
 * there is none.
 */
export async function fileStatus(path: string): Promise<FileStatus> {
  const file = await findCachedFile(path);
  if (file?.exists === true) return getStatus(file);
  if ((await listCachedFiles(path)).length === 0) throw absence(path);
  return { size: 0, mtimeMs: 0, isFile: () => false, isDirectory: () => true };
}

/** The files and folders directly below `path` in the browser's cache. Throws an error with code ENOENT if there are none. */
export async function listFolder(path: string): Promise<FolderEntry[]> {
  const inside = (await listCachedFiles(path)).map(({ url }) => url.slice(path.length + 1));
  if (inside.length === 0) throw absence(path);
  const entries = new Map(inside.map((name) => [decodeURIComponent(name.split("/")[0] ?? ""), name.includes("/")]));
  return [...entries].map(([name, isFolder]) => ({ name, isDirectory: () => isFolder }));
}

/** Hexadecimal SHA-256 of a file of the browser's cache, computed by the browser outside this thread. */
export async function computeSha256(path: string): Promise<string> {
  return sha256OfBlob(await (await presentFile(path)).bytes());
}

/** Hexadecimal SHA-256 of a blob. The whole blob is read into memory, since Web Crypto has no incremental digest. */
export async function sha256OfBlob(content: Blob): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await content.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function presentFile(path: string): Promise<CachedFile> {
  const file = await findCachedFile(path);
  if (file?.exists !== true) throw absence(path);
  return file;
}

function getStatus({ size, cachedAt }: CachedFile): FileStatus {
  return { size, mtimeMs: cachedAt, isFile: () => true, isDirectory: () => false };
}

function absence(path: string): Error {
  return Object.assign(new Error(`there is no file ${path} in this browser's cache`), { code: "ENOENT" });
}
