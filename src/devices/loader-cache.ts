/**
 * Reads /etc/ld.so.cache, in which the dynamic loader of glibc looks libraries up. Source: glibc, sysdeps/generic/dl-cache.h. Two layouts exist: the one of
 * glibc 2.2 and later ("glibc-ld.so.cache1.1"), and the same after a table for older loaders ("ld.so-1.7.0").
 */
import { getMessage } from "../contract/errors.ts";
import { openFile } from "../platform/node/files.ts";
import { isMissing } from "../platform/missing-file.ts";

/** An entry of the loader's cache. */
export interface LoaderCacheEntry {
  /** Name under which programs load it, for example "libgomp.so.1". */
  readonly name: string;
  readonly path: string;
  /** Type of the library and its architecture; 0x0303 is x86-64 with glibc. */
  readonly flags: number;
}

const magic = "glibc-ld.so.cache1.1";
const oldMagic = "ld.so-1.7.0";
const headerBytes = 48;
const entryBytes = 24;
const oldHeaderBytes = 16;
const oldEntryBytes = 12;

/** Bytes of a cache: a large installation has about 10,000 entries in 1 MB. */
const maxCacheBytes = 64 * 1024 * 1024;
/** PATH_MAX of Linux. */
const maxTextBytes = 4096;

/** Path of the cache. */
export const loaderCachePath = "/etc/ld.so.cache";

/** The entries of a cache, or the reason why there are none. */
export type LoaderCache =
  | { readonly entries: readonly LoaderCacheEntry[] }
  | { readonly outcome: "absent" | "unreadable"; readonly reason: string };

/** Reads the loader's cache. Read errors are part of the result. */
export async function readLoaderCache(path: string = loaderCachePath): Promise<LoaderCache> {
  try {
    return { entries: parseLoaderCache(await readCache(path)) };
  } catch (error) {
    if (isMissing(error)) return { outcome: "absent", reason: "there is no such file" };
    return { outcome: "unreadable", reason: getMessage(error) };
  }
}

async function readCache(path: string): Promise<Uint8Array> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    if (size > maxCacheBytes) throw new Error(`it has ${size} bytes, and a cache may have ${maxCacheBytes}`);
    const bytes = new Uint8Array(size);
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The entries of a cache, in its order. Throws Error for bytes that are not a whole cache. */
export function parseLoaderCache(bytes: Uint8Array): readonly LoaderCacheEntry[] {
  const cache = bytes.subarray(cacheOffset(bytes));
  if (!startsWith(cache, magic) || cache.length < headerBytes) throw new Error(`it does not begin with "${magic}"`);
  const view = new DataView(cache.buffer, cache.byteOffset, cache.byteLength);
  const isLittle = isLittleEndian(view.getUint8(28));
  const count = view.getUint32(20, isLittle);
  const stringBytes = view.getUint32(24, isLittle);
  const stringStart = headerBytes + count * entryBytes;
  const end = stringStart + stringBytes;
  if (end > cache.length) throw new Error(`${count} entries and ${stringBytes} bytes of names exceed its ${cache.length} bytes`);
  return Array.from({ length: count }, (_, index) => {
    const start = headerBytes + index * entryBytes;
    const text = (position: number): string => zeroTerminated(cache, view.getUint32(position, isLittle), stringStart, end);
    return { flags: view.getInt32(start, isLittle), name: text(start + 4), path: text(start + 8) };
  });
}

/** Offset of the current layout, which is aligned to 8 bytes after the table for older loaders. */
function cacheOffset(bytes: Uint8Array): number {
  if (!startsWith(bytes, oldMagic)) return 0;
  if (bytes.length < oldHeaderBytes) throw new Error("it ends within its header");
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);
  return Math.ceil((oldHeaderBytes + count * oldEntryBytes) / 8) * 8;
}

/** The byte is 0 where glibc before 2.33 wrote the file, 2 for little endian, 3 for big endian. */
function isLittleEndian(flag: number): boolean {
  const order = flag & 3;
  if (order === 1) throw new Error("its byte order is marked as invalid");
  return order !== 3;
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return new TextDecoder("latin1").decode(bytes.subarray(0, text.length)) === text;
}

function zeroTerminated(bytes: Uint8Array, offset: number, start: number, end: number): string {
  if (offset < start || offset >= end) throw new Error(`a name at byte ${offset} is outside of bytes ${start} to ${end}`);
  const stop = bytes.subarray(offset, Math.min(end, offset + maxTextBytes)).indexOf(0);
  if (stop === -1) throw new Error(`the name at byte ${offset} has no end within ${maxTextBytes} bytes`);
  return new TextDecoder().decode(bytes.subarray(offset, offset + stop));
}
