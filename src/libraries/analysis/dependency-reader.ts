/** Reads the libraries that others need. */
import { addToList, getOrInsert } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { type BinaryFile, readBinary } from "../binaries/index.ts";
import { readLoaderCache } from "../../devices/loader-cache.ts";

/**
 * Reads needed libraries and the loader's cache once each, for one analysis or for several files, which mostly need the same ones. Changes on disk are not
 * noticed in between.
 */
export class DependencyReader {
  readonly #binaries = new Map<string, Promise<BinaryFile | undefined>>();
  #cache: Promise<ReadonlyMap<string, readonly string[]>> | undefined;

  /** Paths of a library name in the loader's cache, for all architectures. None if the cache is missing or damaged, in which case the loader ignores it. */
  async cachedPaths(name: string): Promise<readonly string[]> {
    this.#cache ??= pathsByName();
    return (await this.#cache).get(name) ?? [];
  }

  /** The tables of a library without its symbols. Undefined if there is no native library at the path. */
  read(path: string): Promise<BinaryFile | undefined> {
    return getOrInsert(this.#binaries, path, () => readTables(path));
  }
}

async function readTables(path: string): Promise<BinaryFile | undefined> {
  try {
    return await readBinary(path, { symbols: false });
  } catch (error) {
    if (error instanceof InferyardError && error.code === "INPUT_INVALID") return undefined;
    throw error;
  }
}

async function pathsByName(): Promise<ReadonlyMap<string, readonly string[]>> {
  const paths = new Map<string, string[]>();
  const cache = await readLoaderCache();
  for (const { name, path } of "entries" in cache ? cache.entries : []) addToList(paths, name, path);
  return paths;
}
