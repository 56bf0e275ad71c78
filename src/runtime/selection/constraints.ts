/** What is asked of selection, and how the wishes of process, model and request become one. */
import { InferyardError } from "../../errors.ts";
import { type TargetPattern, formatPattern, parseTarget } from "./target.ts";

/** How candidates are ordered. */
export type Policy = "priority" | "manifest" | "fastest";

export const policies: readonly Policy[] = ["priority", "manifest", "fastest"];

/** The order of backends under the policies "priority" and "fastest". Backends not named here come after, as they were registered. */
export const defaultPriority: readonly string[] = ["onnx", "xla", "llamacpp", "native", "wasm"];

/** A constraints as people write it, at any level. Targets are written `backend[:device[:index]]`. */
export interface ConstraintOptions {
  /** Default: "priority". */
  readonly policy?: Policy;
  /** Order of backends under the policies "priority" and "fastest". Default: onnx, xla, llamacpp, native, wasm. */
  readonly priority?: readonly string[];
  /** Tried first, in this order; the others remain as fallbacks. */
  readonly prefer?: string | readonly string[];
  /** Only these may run; when none can, loading fails. */
  readonly target?: string | readonly string[];
  /** Never run on these. */
  readonly exclude?: string | readonly string[];
}

/** The merged constraints. */
export interface Constraints {
  readonly policy: Policy;
  readonly priority: readonly string[];
  /** Whether someone chose the order: then backends it names that are not registered are reported. */
  readonly priorityChosen: boolean;
  readonly preferred: readonly TargetPattern[];
  /** One list of alternatives for every level that required something; all levels must be met. */
  readonly required: readonly (readonly TargetPattern[])[];
  readonly excluded: readonly TargetPattern[];
}

/**
 * Merges wishes, the most general first (process, model, request). The last policy and order win; preferences of the later level
 * come first; exclusions add up; and requirements add up too, so that no level can loosen what another one demanded.
 */
export function mergeConstraints(...levels: readonly ConstraintOptions[]): Constraints {
  const unknown = levels.find(({ policy }) => policy !== undefined && !policies.includes(policy))?.policy;
  if (unknown !== undefined) {
    throw new InferyardError("INPUT_INVALID", `"${unknown}" is not a policy of this version`, {
      remedy: `choose one of ${policies.join(", ")}`,
    });
  }
  const priority = levels.findLast((level) => level.priority !== undefined)?.priority;
  return {
    policy: levels.findLast((level) => level.policy !== undefined)?.policy ?? "priority",
    priority: priority ?? defaultPriority,
    priorityChosen: priority !== undefined,
    preferred: withoutDuplicates(levels.toReversed().flatMap((level) => parseTargets(level.prefer))),
    required: levels.map((level) => parseTargets(level.target)).filter((patterns) => patterns.length > 0),
    excluded: withoutDuplicates(levels.flatMap((level) => parseTargets(level.exclude))),
  };
}

/** Every target named becomes a candidate, and each is held against each. */
const maxTargets = 64;

/** Reads a list of targets; one that is written twice, in whatever spelling, counts once. Throws INPUT_INVALID for what is no target, and for a list of more than 64. */
export function parseTargets(written: string | readonly string[] | undefined): TargetPattern[] {
  const list = typeof written === "string" ? written.split(",") : (written ?? []);
  if (list.length > maxTargets) {
    throw new InferyardError("INPUT_INVALID", `a list names ${list.length} targets, and may name ${maxTargets}`, {
      remedy: "name the targets that matter",
    });
  }
  return withoutDuplicates(list.filter((text) => text.trim() !== "").map(parseTarget));
}

function withoutDuplicates(patterns: readonly TargetPattern[]): TargetPattern[] {
  return [...new Map(patterns.map((pattern) => [formatPattern(pattern), pattern])).values()];
}
