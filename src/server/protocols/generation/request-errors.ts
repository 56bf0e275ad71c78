/** What the protocols of language models ask for and this version does not do. */
import type { InferyardError } from "../../../contract/errors.ts";
import { invalidInput } from "../../../contract/errors.ts";

/** INPUT_INVALID for a field that requests an unsupported feature. Clients repeat requests that get a 5xx, so it is not NOT_BUILT. */
export function unsupportedField(path: string, what: string, remedy: string): InferyardError {
  return invalidField(path, `${what} is not supported`, remedy);
}

/** INPUT_INVALID for a field. */
export function invalidField(path: string, problem: string, remedy = "correct it, or leave it out"): InferyardError {
  return invalidInput(`${path}: ${problem}`, remedy, { path: path.split(".") });
}
