/** Targets that can run a model. */
import { InferyardError } from "../../../contract/errors.ts";
import type { Decision } from "../../../runtime/decision/decision.ts";
import type { Session } from "../../session.ts";

/**
 * Targets that can run the session's model, best first; downloads the model if necessary. `named`: only these. Throws NO_BACKEND with the reasons
 * if there are none.
 */
export async function runnableTargets(session: Session, signal: AbortSignal, named?: readonly string[]): Promise<string[]> {
  const { model } = session;
  const { candidates } = await explainFetched(session, signal, named);
  const open = candidates.filter(({ verdict }) => verdict === "would-run" || verdict === "not-tried").map(({ target }) => target);
  if (open.length > 0) return open;
  const reasons = candidates.map(({ target, reason }) => `  ${target}  ${reason}`);
  throw new InferyardError("NO_BACKEND", [`no backend on this machine can run ${model}`, ...reasons].join("\n"));
}

/** The decision of a load; downloads the model first if it is not on this machine. */
export async function explainFetched(session: Session, signal: AbortSignal, named?: readonly string[]): Promise<Decision> {
  const { runtime, model, settings } = session;
  const options = {
    ...(settings.variant === undefined ? {} : { variant: settings.variant }),
    ...(named === undefined ? {} : { target: named }),
  };
  try {
    return await runtime.explain(model, options);
  } catch (error) {
    const missing = error instanceof InferyardError ? error.data["pull"] : undefined;
    if (typeof missing !== "string") throw error;
    await session.fetch(missing, signal);
    return await runtime.explain(model, options);
  }
}
