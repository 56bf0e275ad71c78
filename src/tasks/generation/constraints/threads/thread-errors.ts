/** Errors of calls that a grammar thread did not finish. */
import { InferyardError, invalidInput } from "../../../../contract/errors.ts";
import type { ThreadFailure } from "../../../threads/call-thread.ts";

/** The call, and the limits of its thread. */
export interface UnfinishedCall {
  /** Whether the constraint was compiled already, and the call was a step of a text. */
  readonly isCompiled: boolean;
  readonly tookMs: number;
  readonly timeoutMs: number;
  readonly heapMebibytes: number;
}

/** INPUT_INVALID for a call that exceeded a limit; HOST_DIED for another failure. */
export function unfinishedError(failure: ThreadFailure, call: UnfinishedCall): InferyardError {
  if (failure.kind === "ended") return threadError(failure);
  const what = call.isCompiled ? "finding the tokens that may follow by the constraint" : "compiling the constraint";
  const [unit, number, limit, words] =
    failure.kind === "time"
      ? (["milliseconds", Math.round(call.tookMs), call.timeoutMs, "ms"] as const)
      : (["bytes", call.heapMebibytes * 2 ** 20, call.heapMebibytes * 2 ** 20, "bytes of memory"] as const);
  return invalidInput(
    `${what} took more than ${limit} ${words}, the limit`,
    failure.kind === "time" ? "simplify the constraint, or raise `constraintTimeout`" : "simplify the constraint",
    { refused: true, unit, number, limit },
  );
}

/** HOST_DIED for a thread that ended without exceeding a limit. */
export function threadError({ message, cause }: ThreadFailure): InferyardError {
  return new InferyardError("HOST_DIED", `compiling constraints: ${message}`, { remedy: "send the request again", cause });
}
