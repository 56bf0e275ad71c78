/** The targets that a model was meant to run on and does not. */
import { type Target, matches, parseTarget } from "../targets/target.ts";
import type { Candidate, Decision } from "./decision.ts";

/** One of these targets. */
export interface Fallback {
  /** The target, with its variant where several were tried. */
  readonly from: string;
  /** The target that is used instead. */
  readonly to: string;
  /** A sentence for the user, without a full stop. */
  readonly reason: string;
}

/**
 * What a model fell back from, in the order of the candidates: targets whose load failed, and targets that were asked for first and could not be tried.
 * `used`: the target that runs the model, or would. A target that comes after it, and one that the constraints exclude, is none.
 */
export function fallbacksOf({ candidates, constraints }: Pick<Decision, "candidates" | "constraints">, used: string): Fallback[] {
  const end = candidates.findIndex(({ verdict }) => verdict === "selected" || verdict === "would-run");
  const before = end === -1 ? candidates : candidates.slice(0, end);
  return before
    .filter((candidate) => candidate.verdict === "failed" || (isRefusal(candidate) && wasAskedFor(candidate, constraints, used)))
    .map(({ target, variant, stage, reason }) => ({
      from: variant === undefined ? target : `${target} ${variant}`,
      to: used,
      reason: `${stage}: ${reason}`,
    }));
}

/** Refusals of targets that may be used: what the constraints or the manifest rule out was not asked for. */
function isRefusal({ verdict, stage }: Candidate): boolean {
  return verdict === "refused" && stage !== "constraints" && stage !== "manifest";
}

/** Whether a target was to be tried before the one that is used: by a preference that the used one does not meet, or by the manifest. */
function wasAskedFor({ target }: Candidate, { policy, preferred }: Decision["constraints"], used: string): boolean {
  const met = preferred.findIndex((pattern) => matches(parseTarget(pattern), targetOf(used)));
  const unmet = met === -1 ? preferred : preferred.slice(0, met);
  return policy === "manifest" || unmet.some((pattern) => matches(parseTarget(pattern), targetOf(target)));
}

function targetOf(text: string): Target {
  const { backend, deviceType = "cpu", index = 0 } = parseTarget(text);
  return { backend, device: { type: deviceType, index } };
}
