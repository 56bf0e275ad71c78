/** What child processes that load libraries tell their parent. */
import type { SerializedError } from "../../contract/errors.ts";
import type { ProvedStruct, ValidationStep, ValidationStepName } from "./library-validation.ts";

/** Facts that a step adds to the result. */
export interface StepFacts {
  readonly version?: string;
  readonly structs?: readonly ProvedStruct[];
  readonly optional?: Readonly<Record<string, string>>;
}

/** The last message of a child. */
export type EndMessage = { readonly kind: "done" } | { readonly kind: "failed"; readonly error: SerializedError };

/** Message of the first load of libraries: one more was loaded, or refused by the loader where it may be, in the order of the arguments. */
export interface LoadedMessage {
  readonly kind: "loaded";
}

/** Messages of a validation. */
export type StepMessage =
  /** Sent before code of the library runs, so that it is known where it ended the process. */
  | { readonly kind: "begin"; readonly step: ValidationStepName }
  | { readonly kind: "step"; readonly step: ValidationStep; readonly facts: StepFacts };
