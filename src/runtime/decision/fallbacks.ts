/** Finds the preferred targets that a model does not run on because they failed or were refused. */
import { matches, parseTarget, parseExactTarget } from "../targets/target.ts";
import type { Candidate, Decision } from "./decision.ts";

/** A preferred target that is not used, and the target used instead. */
export interface Fallback {
  /** The target that is not used, with the variant of the model if several were tried. */
  readonly from: string;
  /** The target that is used instead. */
  readonly to: string;
  /** Why the target is not used; a sentence without a full stop. */
  readonly reason: string;
}

/**
 * The fallbacks of a decision, in the order of the candidates: targets whose load failed, and preferred targets that were refused. `used`: the target
 * that runs the model, or would run it. Targets after it, and targets excluded by constraints, are not included.
 */
export function getFallbacks(
  { candidates, constraints }: Pick<Decision, "candidates" | "constraints">,
  used: string,
): Fallback[] {
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

/** Whether a candidate was refused for a reason other than the constraints or the manifest. Targets excluded by those were not requested. */
function isRefusal({ verdict, stage }: Candidate): boolean {
  return verdict === "refused" && stage !== "constraints" && stage !== "manifest";
}

/**
 * Whether a target had precedence over the used target, through a preference that the used target does not match, or through the manifest's order.
 */
function wasAskedFor({ target }: Candidate, { policy, preferred }: Decision["constraints"], used: string): boolean {
  const met = preferred.findIndex((pattern) => matches(parseTarget(pattern), parseExactTarget(used)));
  const unmet = met === -1 ? preferred : preferred.slice(0, met);
  return policy === "manifest" || unmet.some((pattern) => matches(parseTarget(pattern), parseExactTarget(target)));
}
