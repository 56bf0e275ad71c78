/** An open library with what the checks of its contract need. */
import type { LibraryContract } from "../../contracts/index.ts";
import type { ForeignFunctions, NativeLibrary } from "../../ffi/index.ts";
import type { ProvedStruct, ValidationStepName } from "../library-validation.ts";
import { refusal } from "../refusal.ts";

/** An open library. */
export interface CheckedLibrary {
  readonly ffi: ForeignFunctions;
  readonly library: NativeLibrary;
  readonly contract: LibraryContract;
}

/** Result of a check. Throws LIBRARY_INCOMPATIBLE instead if the check fails. */
export interface CheckOutcome {
  /** Default: "passed". */
  readonly verdict?: "not provable";
  /** Description, as a sentence without a full stop. */
  readonly detail: string;
  readonly version?: string;
  readonly structs?: readonly ProvedStruct[];
  readonly optional?: Readonly<Record<string, string>>;
}

/** A check of a contract. */
export interface Check {
  readonly step: ValidationStepName;
  /** Runs code of the library. */
  readonly run: (checked: CheckedLibrary) => CheckOutcome;
}

/** A function without parameters that returns a string; undefined if the library has none of that name. */
export function statedText({ library }: CheckedLibrary, name: string): string | undefined {
  return library.has(name) ? library.bind(name, { result: "string", parameters: [] })() : undefined;
}

/** The error of a failed step, with a remedy. */
export function refuse(
  { library, contract }: CheckedLibrary,
  step: ValidationStepName,
  facts: { readonly expected: string; readonly found: string; readonly details?: readonly string[]; readonly remedy?: string },
): Error {
  return refusal({
    path: library.path,
    contract: contract.name,
    step,
    remedy: `use a release of ${contract.title} that keeps the contract`,
    ...facts,
  });
}
