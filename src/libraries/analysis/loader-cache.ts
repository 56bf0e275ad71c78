/** Reads /etc/ld.so.cache, in which glibc's loader looks libraries up (glibc, sysdeps/generic/dl-cache.h). */
import { Fields, NameTable } from "../binaries/binary-reader.ts";
import { DamagedBinary } from "../binaries/binary-errors.ts";
import { ReadLimits } from "../binaries/read-limits.ts";

const magic = "glibc-ld.so.cache1.1";
const headerBytes = 48;
const entryBytes = 24;

/**
 * The paths of each library name in a loader cache, in the order of the file, for all architectures. Empty for a file of another format
 * or a damaged one, which the loader ignores too.
 */
export function parseLoaderCache(bytes: Buffer): ReadonlyMap<string, readonly string[]> {
  const start = bytes.indexOf(magic); // an older table may precede it
  const paths = new Map<string, string[]>();
  if (start < 0) return paths;
  const what = "the loader cache";
  const cache = bytes.subarray(start);
  try {
    const fields = new Fields(cache, { littleEndian: isLittleEndian(cache), wordBytes: 4 }, what);
    const names = new NameTable(cache, new ReadLimits(what), what);
    const count = fields.uint32(20);
    for (let index = 0; index < count; index += 1) {
      const entry = headerBytes + index * entryBytes;
      const name = names.at(fields.uint32(entry + 4));
      const path = names.at(fields.uint32(entry + 8));
      const before = paths.get(name);
      if (before === undefined) paths.set(name, [path]);
      else before.push(path);
    }
  } catch (error) {
    if (!(error instanceof DamagedBinary)) throw error;
    return new Map();
  }
  return paths;
}

/** Byte 28 states the byte order since glibc 2.33: 2 is little, 3 is big, 0 is not stated. */
function isLittleEndian(cache: Buffer): boolean {
  return cache[28] !== 3;
}
