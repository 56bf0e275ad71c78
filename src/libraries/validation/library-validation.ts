/** The result of a validation: plain data. Texts of the library are untrusted. */
import type { ContractName } from "../contracts/index.ts";

/**
 * analysis: the file fits this machine, by its tables. loading: the loader accepts it. functions: it exports the functions of the contract. version: its stated
 * version is supported. abi: its binary interface is the known one. devices: it has a device to compute on.
 */
export type ValidationStepName = "analysis" | "loading" | "functions" | "version" | "abi" | "devices";

/** A step that was done. */
export interface ValidationStep {
  readonly name: ValidationStepName;
  /** `not provable`: the contract states nothing that could be compared. */
  readonly verdict: "passed" | "not provable" | "refused";
  readonly milliseconds: number;
  /** Result of the step, as a sentence without a full stop. */
  readonly detail: string;
}

/** A struct whose layout was proved. */
export interface ProvedStruct {
  /** C name of the struct. */
  readonly name: string;
  /** The release of the layout that fits: builds from this one on until the next in the table have it. */
  readonly release: string;
  /** Bytes. */
  readonly size: number;
  /** Number of fields whose value the library wrote where the layout has them. */
  readonly fields: number;
}

/** Why a library was refused: the data of the error. */
export interface LibraryRefusal {
  readonly path: string;
  readonly contract: ContractName;
  readonly step: ValidationStepName;
  readonly expected: string;
  readonly found: string;
  /** Differences from the closest layout, or other facts, one a line. */
  readonly details: readonly string[];
  /** The steps that were done, the refused one last. */
  readonly steps: readonly ValidationStep[];
  /** The last lines that the library wrote to stderr. */
  readonly lastLines: readonly string[];
}

/** A library that keeps its contract. */
export interface LibraryValidation {
  /** The path as the user wrote it. */
  readonly path: string;
  readonly contract: ContractName;
  /** The library as its makers write it: "llama.cpp". */
  readonly title: string;
  /** Version that the library states, such as "0.5.0-dev". Undefined: it has no function for that. */
  readonly version: string | undefined;
  readonly steps: readonly ValidationStep[];
  /** Structs whose layout was proved. Empty for contracts that pass none by value. */
  readonly structs: readonly ProvedStruct[];
  /** Functions that the contract does not require and the library has, with the feature of each. */
  readonly optional: Readonly<Record<string, string>>;
}

/** Options of `validateLibrary`. */
export interface ValidateOptions {
  /** The path as the user wrote it. Default: the path. */
  readonly displayName?: string;
  /** Milliseconds for all that runs code of the library. Default: 20,000. */
  readonly timeout?: number;
  /** Bytes of memory that the child process may hold. Default: 4 GiB. Watched on Linux. */
  readonly maxMemory?: number;
  /** Environment of the child process. Default: the environment of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}
