/** Looks for native inference libraries on this machine. Files are listed, none is loaded. */
import { realpath } from "node:fs/promises";
import { omitUndefined } from "../../contract/checked.ts";
import { nodeSources } from "../../devices/index.ts";
import { loaderDirectories } from "../../devices/libraries.ts";
import { loaderCachePath, readLoaderCache } from "../../devices/loader-cache.ts";
import { throwIfAborted } from "../../contract/errors.ts";
import { environmentLocations } from "./environment-locations.ts";
import { isInferenceLibrary } from "./library-names.ts";
import { npmLocations } from "./npm-locations.ts";
import { pythonLocations } from "./python-locations.ts";
import { scanLocation } from "./scan-location.ts";
import type { LibraryPackage, LocationScan, SearchLocation, SearchedLocation } from "./search-location.ts";
import { type UniqueFile, UniqueFiles } from "./unique-files.ts";

/** Options of `discoverLibraries`. */
export interface DiscoveryOptions {
  /** Variables that name locations. Default: the variables of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the folder that relative paths start from and that npm packages are searched from. Default: the working directory. */
  readonly directory?: string;
  /**
   * Whether Python packages are searched as well: the packages of this interpreter (a path), the packages in this folder (a path), or the packages of `python3`
   * on the PATH (true). An interpreter is run to determine its folders. Default: none.
   */
  readonly python?: string | true;
  /** If aborted, discovery throws ABORTED. */
  readonly signal?: AbortSignal;
}

/** A file with the name of an inference library. */
export interface DiscoveredLibrary extends Omit<UniqueFile<SearchLocation>, "origins"> {
  /** Why the locations were looked at: variables and rules, in the order of the search. */
  readonly foundBy: readonly string[];
  /** The npm package that it belongs to. */
  readonly package?: LibraryPackage;
}

/** Libraries found, and the searched locations. */
export interface Discovery {
  /** In the order of the search. */
  readonly libraries: readonly DiscoveredLibrary[];
  /** Every location that was looked at, in the order of the search. */
  readonly locations: readonly SearchedLocation[];
}

/** Limit for the number of folders that are searched because run paths name them. */
const runPathLimit = 200;

const loaderCache: SearchLocation = { path: loaderCachePath, rule: "cache of the loader", depth: 0 };

/**
 * Looks for inference libraries by their file names: in folders named by environment variables, in the loader's cache and default folders, in npm packages, in
 * Python packages if requested, and in the run paths of this program and of the libraries found. Throws INPUT_INVALID if `python` names nothing usable, and
 * ABORTED.
 */
export async function discoverLibraries(options: DiscoveryOptions = {}): Promise<Discovery> {
  const { directory = process.cwd(), environment = process.env, python, signal } = options;
  const sources = { ...nodeSources(), environment };
  const { platform } = sources;
  const named = environmentLocations(environment, platform, directory);
  const locations: readonly SearchLocation[] = [
    ...named.locations,
    ...(platform === "linux" ? [loaderCache] : []),
    ...loaderDirectories(sources).map((path) => ({ path, rule: "default folder of the loader", depth: 0 })),
    ...(await npmLocations(directory)),
    ...(python === undefined ? [] : await pythonLocations(sources, python, directory)),
  ];
  const files = new UniqueFiles<SearchLocation>();
  const searched: SearchedLocation[] = [];
  const search = async (location: SearchLocation): Promise<void> => {
    throwIfAborted(signal);
    const scan =
      location === loaderCache
        ? await scanLoaderCache(location.path)
        : await scanLocation(location.path, location.depth, { signal });
    searched.push(await addFiles(files, location, scan));
  };
  for (const location of locations) await search(location);
  for await (const location of unsearchedRunPaths(files, searched)) await search(location);
  return { libraries: files.list().map(toLibrary), locations: [...searched, ...named.unset] };
}

/**
 * The folders that run paths name and that are not searched yet: those of this program, then those of each library found, also of libraries that are
 * found in such folders.
 */
async function* unsearchedRunPaths(
  files: UniqueFiles<SearchLocation>,
  searched: readonly SearchedLocation[],
): AsyncGenerator<SearchLocation> {
  const { runPathLocations } = await import("./run-path-locations.ts"); // with the readers of binaries, which others of this folder do not need
  const folders = new Set<string>();
  for (const { path } of searched) if (path !== undefined) folders.add(await resolvedPath(path));
  const read = new Set<string>();
  let found = 0;
  let unread = [await resolvedPath(process.execPath)];
  while (unread.length > 0) {
    for (const file of unread) {
      read.add(file);
      for (const location of await runPathLocations(file)) {
        const folder = await resolvedPath(location.path);
        if (folders.has(folder)) continue;
        folders.add(folder);
        if ((found += 1) > runPathLimit) return;
        yield location;
      }
    }
    unread = files
      .list()
      .map(({ path }) => path)
      .filter((path) => !read.has(path));
  }
}

/** The libraries for inference that the loader's cache lists. */
async function scanLoaderCache(path: string): Promise<LocationScan> {
  const cache = await readLoaderCache(path);
  if (!("entries" in cache)) return { outcome: cache.outcome, files: [], notes: [cache.reason] };
  const files = cache.entries.filter(({ name }) => isInferenceLibrary(name)).map((entry) => entry.path);
  return { outcome: files.length > 0 ? "found" : "empty", files: [...new Set(files)].sort(), notes: [] };
}

/** The path without symbolic links; the path itself where nothing is there. */
async function resolvedPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}

/** Adds the files of a scan, and reports the location with those left out that cannot be read. */
async function addFiles(
  files: UniqueFiles<SearchLocation>,
  location: SearchLocation,
  scan: LocationScan,
): Promise<SearchedLocation> {
  const problems: string[] = [];
  for (const file of scan.files) {
    const problem = await files.add(file, location);
    if (problem !== undefined) problems.push(problem);
  }
  const libraries = scan.files.length - problems.length;
  const outcome = scan.outcome === "found" && libraries === 0 ? "empty" : scan.outcome;
  return { path: location.path, rule: location.rule, outcome, libraries, notes: [...scan.notes, ...problems] };
}

function toLibrary({ origins, ...file }: ReturnType<UniqueFiles<SearchLocation>["list"]>[number]): DiscoveredLibrary {
  const owner = origins.find((origin) => origin.package !== undefined)?.package;
  return {
    ...file,
    foundBy: [...new Set(origins.map(({ rule }) => rule))],
    ...omitUndefined({ package: owner }),
  };
}
