/** The files of native code of a build of llama.cpp in node-llama-cpp, with their digests. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { LibraryFileDigest } from "../../contract/backend.ts";
import { computeSha256 } from "../../platform/node/files.ts";

const nativeName = /\.(?:node|so|dylib|dll|metallib)$/;

/**
 * Native files of a build's folder, sorted by name, then the fallback files that node-llama-cpp loads if the build fails to load. The fallback files
 * are in the folder `fallback` of the build's `-ext` package, and are named like "fallback/libggml-cuda.so". Throws errors of Node.js if the folder
 * or a file cannot be read.
 */
export async function readNativeFiles(folder: string): Promise<readonly LibraryFileDigest[]> {
  const packages = dirname(dirname(dirname(folder)));
  const extension = join(packages, `${basename(dirname(dirname(folder)))}-ext`, "bins", basename(folder), "fallback");
  const others = await readdir(extension).catch((): string[] => []);
  const files: LibraryFileDigest[] = [];
  for (const [prefix, place, names] of [
    ["", folder, await readdir(folder)],
    ["fallback/", extension, others],
  ] as const) {
    for (const name of names.filter((each) => nativeName.test(each)).toSorted()) {
      // Sequential, so that only one file is read at a time.
      // oxlint-disable-next-line no-await-in-loop
      files.push({ name: `${prefix}${name}`, sha256: await computeSha256(join(place, name)) });
    }
  }
  return files;
}
