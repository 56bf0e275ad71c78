/** Locations that discovery looks at, and what it reports of each. */

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

/**
 * What was found at a location. "found": at least one library; "empty": none; "absent": there is nothing at the path, or the variable is not
 * set; "unreadable": it exists and cannot be read.
 */
export type LocationOutcome = "found" | "empty" | "absent" | "unreadable";

/** A location that was looked at. */
export interface SearchedLocation {
  /** Absolute path. Left out for a variable that is not set. */
  readonly path?: string;
  /** See `SearchLocation.rule`. */
  readonly rule: string;
  readonly outcome: LocationOutcome;
  /** Number of paths of libraries there. */
  readonly libraries: number;
  /** Why the outcome is what it is, and what was left out: entries that cannot be read, limits that were reached. */
  readonly notes: readonly string[];
}

/** Paths that one location contributes. */
export interface LocationScan {
  readonly outcome: LocationOutcome;
  /** Paths of files with the name of a library, sorted. */
  readonly files: readonly string[];
  readonly notes: readonly string[];
}
