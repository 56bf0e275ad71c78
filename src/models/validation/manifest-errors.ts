/** The one error for a manifest that is not right: it names every problem. */
import { InferyardError } from "../../errors.ts";

/** MODEL_INVALID. `shown` is the manifest. */
export function manifestInvalid(shown: string, problems: readonly string[], remedy: string): InferyardError {
  const what = problems.length === 1 ? "is not right" : `has ${problems.length} problems`;
  return new InferyardError("MODEL_INVALID", `${shown} ${what}: ${joinProblems(problems)}`, {
    remedy,
    data: { path: shown, problems },
  });
}

/** MODEL_UNSUPPORTED: the manifest is right, and asks for what this version does not do. */
export function manifestUnsupported(shown: string, wishes: readonly string[], remedy: string): InferyardError {
  const message = `${shown} asks for what this version does not do: ${joinProblems(wishes)}`;
  return new InferyardError("MODEL_UNSUPPORTED", message, { remedy, data: { path: shown, problems: wishes } });
}

const maxJoinedProblems = 20;
const maxProblemCharacters = 300;

/** Problems for a message: the first 20, each cut after 300 characters. `data.problems` of the error has all of them. */
export function joinProblems(problems: readonly string[]): string {
  const shown = problems
    .slice(0, maxJoinedProblems)
    .map((problem) => (problem.length > maxProblemCharacters ? `${problem.slice(0, maxProblemCharacters)}…` : problem));
  const left = problems.length - shown.length;
  return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join("; ");
}
