/** Locations that discovery looks at, and what it reports of each. */
import type { LocationOutcome } from "../../contract/availability.ts";

export type { LocationOutcome, SearchedLocation } from "../../contract/availability.ts";

/** An npm package that a library belongs to. */
export interface LibraryPackage {
  readonly name: string;
  readonly version: string;
}

/** A folder or file to look at. */
export interface SearchLocation {
  /** Absolute path. */
  readonly path: string;
  /** Why it is looked at: an environment variable, or a rule such as "default folder of the loader". */
  readonly rule: string;
  /** Levels of subfolders that are searched as well; 0 searches the folder alone. */
  readonly depth: number;
  /** The npm package whose folder it is. */
  readonly package?: LibraryPackage;
}

/** Paths that one location contributes. */
export interface LocationScan {
  readonly outcome: LocationOutcome;
  /** Paths of files with the name of a library, sorted. */
  readonly files: readonly string[];
  readonly notes: readonly string[];
}
