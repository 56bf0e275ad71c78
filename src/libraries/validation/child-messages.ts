/** What the child process of a validation tells its parent. */
import type { SerializedError } from "../../contract/errors.ts";
import type { ProvedStruct, ValidationStep, ValidationStepName } from "./library-validation.ts";

/** Facts that a step adds to the result. */
export interface StepFacts {
  readonly version?: string;
  readonly structs?: readonly ProvedStruct[];
  readonly optional?: Readonly<Record<string, string>>;
}

export type ChildMessage =
  /** Sent before code of the library runs, so that it is known where it ended the process. */
  | { readonly kind: "begin"; readonly step: ValidationStepName }
  | { readonly kind: "step"; readonly step: ValidationStep; readonly facts: StepFacts }
  | { readonly kind: "failed"; readonly error: SerializedError; readonly milliseconds: number }
  | { readonly kind: "done" };
