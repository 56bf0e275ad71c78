/** Keys under which requests and loaded models are shared. */
import type { UserLoadSettings } from "../../kernels/native-settings.ts";
import type { ModelKind } from "../../hosts/host-name.ts";
import { loadSettingNames } from "../options/load-options.ts";
import type { ModelOptions } from "../options/runtime-settings.ts";
import type { CheckedCandidate } from "../selection/selection.ts";
import { type PlacedFiles, type Target, formatPattern, formatTarget, placementKey } from "../targets/target.ts";
import { parseGpuMode, parseTargets } from "../targets/constraints.ts";

/**
 * Key of a request, equal for all requests that get the same decision: targets are in canonical spelling, without duplicates,
 * in the order in which the decision lists them. Throws INPUT_INVALID for a malformed target.
 */
export function requestKey(reference: string, options: Omit<ModelOptions, "signal">): string {
  const { variant, policy, priority, prefer, target, exclude, gpu = "auto", kind = "tensor" } = options;
  return JSON.stringify([
    reference,
    variant,
    policy,
    priority,
    canonicalTargets(prefer),
    canonicalTargets(target),
    canonicalTargets(exclude),
    parseGpuMode(gpu),
    kind,
    getSettings(options),
  ]);
}

function canonicalTargets(targets: string | readonly string[] | undefined): readonly string[] {
  return targets === undefined ? [] : parseTargets(targets).map(formatPattern);
}

/** A resolved request. Requests with the same `residentKey` share one loaded model. */
export interface ResolvedModel {
  readonly reference: string;
  readonly target: Target;
  readonly variant: PlacedFiles;
  readonly settings: UserLoadSettings;
  /** Interface under which it is loaded. Default: "tensor". */
  readonly kind?: ModelKind | undefined;
  /**
   * With failover: the targets that the model may move to, in order. Requests share a model only if these are equal, so that
   * none gets a target that it excluded. Undefined without failover.
   */
  readonly permitted?: readonly string[];
}

/** Key of a loaded model in residency. */
export function residentKey({ reference, target, variant, settings, kind = "tensor", permitted }: ResolvedModel): string {
  return JSON.stringify([reference, placementKey(target, variant), kind, getSettings(settings), permitted]);
}

/** Targets that the constraints permit, in order. Unknown targets are left out, since a caller may name any number of them. */
export function permittedTargets(selections: readonly CheckedCandidate[]): readonly string[] {
  return selections.flatMap((selection) => {
    if (selection.verdict === "eligible") return [formatTarget(selection.target)];
    return selection.stage === "constraints" || selection.stage === "package" ? [] : [selection.target];
  });
}

function getSettings(settings: UserLoadSettings): readonly (readonly [string, unknown])[] {
  return loadSettingNames.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]] as const]));
}
