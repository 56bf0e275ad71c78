/** Chooses among the ways to read the files of a model by its known answers: see `Backend.alternatives`. */
import type { LoadAlternative } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";

/** An alternative with which a model did not pass verification. */
export interface AlternativeFailure {
  readonly name: string;
  readonly error: InferyardError;
}

/** Sentence for the evidence: with which alternative the known answers hold, and with which they do not. */
export function alternativeEvidence(
  chosen: LoadAlternative | undefined,
  failures: readonly AlternativeFailure[],
): readonly string[] {
  if (chosen === undefined) return [];
  const others = failures.map(({ name }) => name).join(" and ");
  return [`the known answers hold with ${chosen.name}${others === "" ? "" : `, and not with ${others}`}`];
}

/** The error for a model that passes verification with no alternative. It has the reason of each. */
export function noAlternative(failures: readonly AlternativeFailure[]): InferyardError {
  const each = failures.map(({ name, error }) => `with ${name}: ${error.message}`).join("; ");
  return new InferyardError("VERIFICATION_FAILED", `the known answers hold with no way to read the weights: ${each}`, {
    remedy: "get the file again, or correct the known answers in inferyard.json",
  });
}
