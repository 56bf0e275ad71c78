import type { Runtime } from "../../create-runtime.ts";
import { InferyardError } from "../../errors.ts";

/** Targets that selection would try for a model, best first. NO_BACKEND with the reasons where there are none. */
export async function runnableTargets(runtime: Runtime, model: string, variant?: string): Promise<string[]> {
  const { candidates } = await runtime.explain(model, variant === undefined ? {} : { variant });
  const open = candidates.filter(({ verdict }) => verdict === "would-run" || verdict === "not-tried").map(({ target }) => target);
  if (open.length > 0) return open;
  const reasons = candidates.map(({ target, reason }) => `  ${target}  ${reason}`);
  throw new InferyardError("NO_BACKEND", [`no backend on this machine can run ${model}`, ...reasons].join("\n"));
}
