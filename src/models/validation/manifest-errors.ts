/** Errors for invalid and unsupported manifests, with every problem. */
import { InferyardError } from "../../contract/errors.ts";

/**
 * Creates the MODEL_INVALID error for a manifest with these problems; `displayName` is its path as the user wrote it. The error is
 * returned, not thrown.
 */
export function manifestInvalid(displayName: string, problems: readonly string[], remedy: string): InferyardError {
  const what = problems.length === 1 ? "is invalid" : `has ${problems.length} problems`;
  return new InferyardError("MODEL_INVALID", `${displayName} ${what}: ${joinProblems(problems)}`, {
    remedy,
    data: { path: displayName, problems },
  });
}

/**
 * Creates the MODEL_UNSUPPORTED error for a valid manifest that asks for features that this version does not have. The error is
 * returned, not thrown.
 */
export function manifestUnsupported(displayName: string, problems: readonly string[], remedy: string): InferyardError {
  const message = `${displayName} asks for what this version does not do: ${joinProblems(problems)}`;
  return new InferyardError("MODEL_UNSUPPORTED", message, { remedy, data: { path: displayName, problems } });
}

const maxJoinedProblems = 20;
const maxProblemCharacters = 300;

/** Joins problems for an error message: the first 20, each truncated to 300 characters. */
export function joinProblems(problems: readonly string[]): string {
  const displayName = problems
    .slice(0, maxJoinedProblems)
    .map((problem) => (problem.length > maxProblemCharacters ? `${problem.slice(0, maxProblemCharacters)}…` : problem));
  const left = problems.length - displayName.length;
  return [...displayName, ...(left > 0 ? [`and ${left} more`] : [])].join("; ");
}
