/** Probes: what a backend needs, and what of it is on this machine. */
import { omitUndefined } from "./checked.ts";
import { InferyardError } from "./errors.ts";
import type { Device } from "./device.ts";
import type { MachineFacts } from "./machine-facts.ts";

/** A package or library that a backend needs. */
export interface Requirement {
  readonly kind: "package" | "library";
  readonly name: string;
  /**
   * Semantic version range as npm writes it, for example ">=1.24 <2". Suffixes such as "-rc.1" of the installed version are
   * ignored. Default: any version.
   */
  readonly range?: string;
  /** Command that installs it. */
  readonly install: string;
}

/** The error of a package that is installed and cannot be used; `problem` says why. The error is returned, not thrown. */
export function unusablePackage({ name, install }: Requirement, problem: string, cause?: unknown): InferyardError {
  return new InferyardError("BACKEND_UNAVAILABLE", `${name} ${problem}`, { remedy: install, ...omitUndefined({ cause }) });
}

/** Options of a probe. */
export interface ProbeOptions {
  /** Facts about this machine. */
  readonly machine: MachineFacts;
  /**
   * false: checks presence only, within milliseconds and without loading native code: whether the package is installed and
   * which devices this machine has for it. true: also runs a tiny graph on each device and reports the engine's own error if it
   * fails.
   */
  readonly run: boolean;
  /**
   * With `run`: repeats self-tests that passed before on this machine and are remembered, and tries devices whose absence the machine's facts show already, so that
   * the engine's own error is known. Default: false.
   */
  readonly full?: boolean;
  /** Probes this device only. Default: all devices. */
  readonly device?: Device;
  readonly signal?: AbortSignal;
}

/** The result of a probe. */
export type Availability =
  | {
      readonly present: false;
      readonly reason: string;
      readonly remedy?: string;
      /** The library, if it was found and cannot be used. */
      readonly library?: Library;
      /** The searched locations. Absent if a backend searches only one location. */
      readonly searched?: readonly SearchedLocation[];
    }
  | {
      readonly present: true;
      readonly library: Library;
      /** Every device that the engine could use on this platform, in the engine's order of preference. */
      readonly devices: readonly DeviceAvailability[];
      /** The searched locations. Absent if a backend searches only one location. */
      readonly searched?: readonly SearchedLocation[];
    };

/**
 * Outcome of a search at a location. "found": at least one library; "empty": none; "absent": the path does not exist, or the variable is not set; "unreadable":
 * it exists and cannot be read.
 */
export type LocationOutcome = "found" | "empty" | "absent" | "unreadable";

/** A location in which libraries were looked for. */
export interface SearchedLocation {
  /** Absolute path. Left out for a variable that is not set. */
  readonly path?: string;
  /** Why it is looked at: an environment variable, or a rule such as "default folder of the loader". */
  readonly rule: string;
  readonly outcome: LocationOutcome;
  /** Number of paths of libraries there. */
  readonly libraries: number;
  /** Reasons for the outcome, and what the search left out: entries that cannot be read, limits that were reached. */
  readonly notes: readonly string[];
}

/** Name and version of an engine's library. */
export interface Library {
  readonly name: string;
  readonly version: string;
  /** All files of native code that take part in computing: the library and the libraries it loads. Absent if the engine does not report them. */
  readonly files?: readonly LibraryFileDigest[];
}

/** A file of native code with the digest of its content. */
export interface LibraryFileDigest {
  /** Name by which the file is loaded. Contains a folder only where it distinguishes files of the same name. */
  readonly name: string;
  /** Hexadecimal SHA-256 of the file's content. */
  readonly sha256: string;
}

/**
 * State of a device. "absent": it cannot be used, or the tiny graph failed on it; "present": its requirements were found, and nothing has run on it;
 * "available": the tiny graph ran on it with the right results.
 */
export type DeviceState = "absent" | "present" | "available";

/** Result of a probe for one device. */
export interface DeviceAvailability {
  readonly device: Device;
  /** A probe with `run: false` never returns "available", one with `run: true` never returns "present". */
  readonly state: DeviceState;
  /** Why it is absent, or what was found or ran, as a sentence. */
  readonly reason: string;
  /** A problem of a device that is available nevertheless, as a sentence. Default: none. */
  readonly warning?: string;
  /** A command or a setting that makes it available. */
  readonly remedy?: string;
  /** Milliseconds that the tiny graph took, session creation included. Undefined if it was not run. */
  readonly milliseconds?: number;
}
