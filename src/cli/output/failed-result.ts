/** The error of a command that has printed its result, and the result says what failed. */
import { InferyardError } from "../../contract/errors.ts";

/** Sets the exit code and is told on stderr. With `--json` it adds nothing to stdout, which has one JSON object: the result. */
export class FailedResult extends InferyardError {}
