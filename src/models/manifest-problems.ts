/** The one error for a manifest that is not right: it names every problem. */
import { InferyardError } from "../errors.ts";

/** MODEL_INVALID. `shown` is the manifest. */
export function manifestInvalid(shown: string, problems: readonly string[], remedy: string): InferyardError {
  const what = problems.length === 1 ? "is not right" : `has ${problems.length} problems`;
  return new InferyardError("MODEL_INVALID", `${shown} ${what}: ${problems.join("; ")}`, {
    remedy,
    data: { path: shown, problems },
  });
}

/** MODEL_UNSUPPORTED: the manifest is right, and asks for what this version does not do. */
export function manifestUnsupported(shown: string, wishes: readonly string[], remedy: string): InferyardError {
  const message = `${shown} asks for what this version does not do: ${wishes.join("; ")}`;
  return new InferyardError("MODEL_UNSUPPORTED", message, { remedy, data: { path: shown, problems: wishes } });
}
