/** A library of this machine: where it was found, and what its analysis says. */
import type { Fact } from "../../contract/backend.ts";
import type { LibraryClass } from "../analysis/index.ts";
import type { DiscoveredLibrary } from "../discovery/index.ts";

/** A library that was found and analyzed. Nothing of it was loaded. */
export interface InstalledLibrary extends DiscoveredLibrary {
  /** Kinds of the library, by its exports and its name. Empty if no rule applies, or if it cannot be read. */
  readonly classes: readonly LibraryClass[];
  /** Version of the library itself, and where it is stated. Left out where nothing states it. */
  readonly version?: Fact<string>;
  /** Instruction set, for example "x86-64". Left out if the file cannot be read. */
  readonly architecture?: string;
  /** Whether this program could load it, by its tables: platform, architecture, libraries and versions that it needs. */
  readonly fits: boolean;
  /** Why it does not fit or cannot be read: sentences without a full stop. */
  readonly problems: readonly string[];
}

/** Whether the library is of a class according to more than its name. */
export function isOfClass({ classes }: InstalledLibrary, name: string): boolean {
  return classes.some((each) => each.name === name && each.confidence !== "possible");
}
