/** Error of a command that has already printed its result, where the result itself reports a failure. */
import { InferyardError } from "../../contract/errors.ts";

/** Sets the exit code and is printed on stderr. With `--json` it is not printed on stdout, which holds exactly one JSON object, the result. */
export class FailedResult extends InferyardError {}
