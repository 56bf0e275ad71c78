/** An open library with what the checks of its contract need. */
import type { LibraryContract } from "../../contracts/index.ts";
import type { ForeignFunctions, NativeLibrary } from "../../ffi/index.ts";
import type { StepFacts } from "../child-messages.ts";
import type { ValidationStepName } from "../library-validation.ts";
import { type RefusalFacts, refusal } from "../refusal.ts";

/** An open library. */
export interface CheckedLibrary {
  readonly ffi: ForeignFunctions;
  readonly library: NativeLibrary;
  readonly contract: LibraryContract;
}

/** Result of a check. Throws LIBRARY_INCOMPATIBLE instead if the check fails. */
export interface CheckOutcome extends StepFacts {
  /** Default: "passed". */
  readonly verdict?: "not provable";
  /** Description, as a sentence without a full stop. */
  readonly detail: string;
}

/** A check of a contract. */
export interface LibraryCheck {
  readonly step: ValidationStepName;
  /** Runs code of the library. */
  readonly run: (checked: CheckedLibrary) => CheckOutcome;
}

/** A function without parameters that returns a string; undefined if the library has none of that name. */
export function statedText({ library }: CheckedLibrary, name: string): string | undefined {
  return library.has(name) ? library.bind(name, { result: "string", parameters: [] })() : undefined;
}

/** The release of ggml that the library states, with the commit if there is one: "0.9.4 (1a2b3c4)". */
export function ggmlVersion(checked: CheckedLibrary): string | undefined {
  const [release, commit] = [statedText(checked, "ggml_version"), statedText(checked, "ggml_commit")];
  return release === undefined || commit === undefined ? release : `${release} (${commit})`;
}

/** The error of a failed step, with a remedy. */
export function refuse(
  { library, contract }: CheckedLibrary,
  step: ValidationStepName,
  facts: Pick<RefusalFacts, "expected" | "found" | "details"> & Partial<Pick<RefusalFacts, "remedy">>,
): Error {
  return refusal({
    path: library.path,
    contract: contract.name,
    step,
    remedy: `use a release of ${contract.title} that keeps the contract`,
    ...facts,
  });
}
