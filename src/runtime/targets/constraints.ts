/**
 * Placement constraints: which targets a model may run on and in what order they are tried, and how the constraints of the
 * runtime, the model and the request are merged.
 */
import { invalidInput } from "../../contract/errors.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";
import {
  type Target,
  type TargetPattern,
  acceleratorTypes,
  anyBackend,
  deviceSpellings,
  formatPattern,
  matches,
  parseTarget,
} from "./target.ts";

/**
 * How candidates are ordered. "priority": by the configured order of backends. "manifest": only the targets that the model's
 * manifest names, in its order. "fastest": accelerators before the CPU, then by speed measured on this machine.
 */
export type Policy = "priority" | "manifest" | "fastest";

/**
 * Use of accelerators, as one word. "auto": decided by the other constraints. "off": CPU only. A device type: only this type of device, with any
 * backend; loading fails if no backend can use it. Callers without types may write it in any case.
 */
export type GpuMode = "auto" | "off" | (typeof acceleratorTypes)[number];

/** Every mode, for checks and flags. */
export const gpuModes: readonly GpuMode[] = ["auto", "off", ...acceleratorTypes];

/** Parses a mode, case-insensitively, including names used by other tools (`gpu`, `dml`). Other values are returned unchanged. */
export function parseGpuMode(text: unknown): unknown {
  if (typeof text !== "string") return text;
  const name = text.trim().toLowerCase();
  return gpuModes.find((mode) => mode === (deviceSpellings[name] ?? name)) ?? text;
}

/** Every policy, for checks and flags. */
export const policies: readonly Policy[] = ["priority", "manifest", "fastest"];

/**
 * Default order of backends under the policies "priority" and "fastest". Backends that are not listed follow in the order of
 * their registration.
 */
export const defaultPriority: readonly string[] = ["onnx", "xla", "llamacpp", "native", "wasm"];

/**
 * Placement constraints as a user writes them, at any level (runtime, model or request). A target is written
 * `backend[:device[:index]]`, for example "onnx:cuda:1"; several targets are separated by commas or given as an array.
 */
export interface ConstraintOptions {
  /** Order of candidates. Default: "priority". */
  readonly policy?: Policy;
  /** Order of backends under the policies "priority" and "fastest". Default: onnx, xla, llamacpp, native, wasm. */
  readonly priority?: readonly string[];
  /** Targets tried first, in this order. The other candidates remain as fallbacks. */
  readonly prefer?: string | readonly string[];
  /** The only targets that may run. Loading fails when none of them can. */
  readonly target?: string | readonly string[];
  /** Targets that must not run. */
  readonly exclude?: string | readonly string[];
  /** Whether accelerators are used: short for a `target` of any backend. Default: "auto". */
  readonly gpu?: GpuMode;
}

/** Placement constraints merged over all levels, with every target parsed. */
export interface Constraints {
  readonly policy: Policy;
  readonly priority: readonly string[];
  /** Whether a level set `priority`. If so, backends that it names and that are not registered appear in the decision. */
  readonly priorityChosen: boolean;
  readonly preferred: readonly TargetPattern[];
  /** One list of alternative targets for each level that set `target`. A candidate must match every list. */
  readonly required: readonly (readonly TargetPattern[])[];
  readonly excluded: readonly TargetPattern[];
}

/**
 * Merges the constraints of several levels, the most general first (runtime, model, request). The last level that sets `policy` or `priority` wins; `prefer` of
 * a later level precedes `prefer` of an earlier one; `exclude` and `target` accumulate, so that no level loosens the demands of another; `gpu` is one more
 * required target. Throws INPUT_INVALID for an unknown policy or mode and for a malformed target.
 */
export function mergeConstraints(...levels: readonly ConstraintOptions[]): Constraints {
  const unknown = levels.find(({ policy }) => policy !== undefined && !policies.includes(policy))?.policy;
  if (unknown !== undefined) {
    throw invalidInput(`"${unknown}" is not a policy of this version`, `choose one of ${policies.join(", ")}`);
  }
  const priority = levels.findLast((level) => level.priority !== undefined)?.priority;
  return {
    policy: levels.findLast((level) => level.policy !== undefined)?.policy ?? "priority",
    priority: priority ?? defaultPriority,
    priorityChosen: priority !== undefined,
    preferred: withoutDuplicates(levels.toReversed().flatMap((level) => parseTargets(level.prefer))),
    required: levels
      .flatMap(({ target, gpu }) => [parseTargets(target), gpuTargets(gpu)])
      .filter((patterns) => patterns.length > 0),
    excluded: withoutDuplicates(levels.flatMap((level) => parseTargets(level.exclude))),
  };
}

/** Whether the constraints permit a target: it matches every list of required targets, and none that is excluded. */
export function permits({ required, excluded }: Pick<Constraints, "required" | "excluded">, target: Target): boolean {
  return (
    required.every((alternatives) => alternatives.some((pattern) => matches(pattern, target))) &&
    !excluded.some((pattern) => matches(pattern, target))
  );
}

/** What a mode requires; empty for "auto". Throws INPUT_INVALID for an unknown mode. */
function gpuTargets(given: unknown = "auto"): readonly TargetPattern[] {
  const mode = gpuModes.find((each) => each === parseGpuMode(given));
  if (mode === undefined) {
    const guess = typeof given === "string" ? nearestName(given, gpuModes) : undefined;
    const remedy = guess === undefined ? `choose one of ${gpuModes.join(", ")}` : `did you mean "${guess}"?`;
    throw invalidInput(`gpu is ${JSON.stringify(given)}`, remedy);
  }
  if (mode === "auto") return [];
  return [{ backend: anyBackend, deviceType: mode === "off" ? "cpu" : mode }];
}

/** Limit of one list. Every target named becomes a candidate, and every candidate is compared with every pattern. */
const maxTargets = 64;

/**
 * Parses a comma-separated string or an array of targets. Duplicates are removed, whatever their spelling. Throws INPUT_INVALID
 * for a malformed target and for more than 64 targets.
 */
export function parseTargets(written: string | readonly string[] | undefined): TargetPattern[] {
  const list = typeof written === "string" ? written.split(",") : (written ?? []);
  if (list.length > maxTargets) {
    throw invalidInput(`a list names ${list.length} targets, and may name ${maxTargets}`, "name the targets that matter");
  }
  return withoutDuplicates(list.filter((text) => text.trim() !== "").map(parseTarget));
}

function withoutDuplicates(patterns: readonly TargetPattern[]): TargetPattern[] {
  return [...new Map(patterns.map((pattern) => [formatPattern(pattern), pattern])).values()];
}
