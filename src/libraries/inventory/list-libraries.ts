/** The native inference libraries of this machine: discovery, and an analysis of each file that was found. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { DependencyReader, analyzeLibrary } from "../analysis/index.ts";
import { type DiscoveredLibrary, type Discovery, type DiscoveryOptions, discoverLibraries } from "../discovery/index.ts";
import type { InstalledLibrary } from "./installed-library.ts";
import { libraryVersion } from "./library-version.ts";

/** The libraries of a machine, and where they were looked for. */
export interface LibraryInventory extends Pick<Discovery, "locations"> {
  /** In the order of the search. */
  readonly libraries: readonly InstalledLibrary[];
}

/** Finds and analyzes the inference libraries of this machine; loads none of them. Throws errors of `discoverLibraries`. */
export async function listLibraries(options: DiscoveryOptions = {}): Promise<LibraryInventory> {
  const { libraries: discovered, locations } = await discoverLibraries(options);
  const dependencies = new DependencyReader();
  const libraries: InstalledLibrary[] = [];
  for (const library of discovered) {
    throwIfAborted(options.signal);
    libraries.push(await analyzeDiscovered(library, dependencies, options.environment));
  }
  return { libraries, locations };
}

/** The library with its analysis. One that cannot be analyzed has no class, and the reason among its problems. */
export async function analyzeDiscovered(
  library: DiscoveredLibrary,
  dependencies: DependencyReader,
  environment?: DiscoveryOptions["environment"],
): Promise<InstalledLibrary> {
  try {
    const { classes, file, fit } = await analyzeLibrary(library.path, omitUndefined({ environment }), dependencies);
    const version = libraryVersion(library.path, classes, file.definedVersions);
    const { architecture } = file;
    return { ...library, classes, fits: fit.fits, problems: fit.problems, ...omitUndefined({ version, architecture }) };
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    return { ...library, classes: [], fits: false, problems: [error.message] };
  }
}
