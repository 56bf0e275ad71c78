/** Keys under which loads are shared: what a caller asks for, in one spelling, and what that resolves to. */
import type { LoadSettings } from "../../backend.ts";
import type { Variant } from "../../models/manifest.ts";
import { loadSettingNames } from "../options/options.ts";
import type { ModelOptions } from "../options/runtime-settings.ts";
import type { CheckedCandidate } from "../selection/selection.ts";
import { type Target, formatPattern, formatTarget, placementKey } from "../selection/target.ts";
import { parseTargets } from "../selection/constraints.ts";

/**
 * The same for all requests that get the same decision: targets in their canonical spelling and once each, in the order in which the decision
 * lists them. Throws INPUT_INVALID for what is no target.
 */
export function requestKey(reference: string, options: Omit<ModelOptions, "signal">): string {
  const { variant, policy, priority, prefer, target, exclude } = options;
  return JSON.stringify([
    reference,
    variant,
    policy,
    priority,
    canonicalTargets(prefer),
    canonicalTargets(target),
    canonicalTargets(exclude),
    settingsOf(options),
  ]);
}

function canonicalTargets(targets: string | readonly string[] | undefined): readonly string[] {
  return targets === undefined ? [] : parseTargets(targets).map(formatPattern);
}

/** What was resolved: model, weights, target and settings. Requests with the same key share one loaded model. */
export interface ResolvedModel {
  readonly reference: string;
  readonly target: Target;
  readonly variant: Pick<Variant, "path">;
  readonly settings: LoadSettings;
  /**
   * Of a model that may move to another target when it fails: the targets it may be on, in order. Requests share it only where these are
   * the same, so that none gets a target it excluded. Left out: the model does not move.
   */
  readonly permitted?: readonly string[];
}

export function residentKey({ reference, target, variant, settings, permitted }: ResolvedModel): string {
  return JSON.stringify([reference, placementKey(target, variant), settingsOf(settings), permitted]);
}

/** Targets that the constraints do not rule out, in order; those nobody knows are not among them, since a caller may name any number. */
export function permittedTargets(selections: readonly CheckedCandidate[]): readonly string[] {
  return selections.flatMap((selection) => {
    if (selection.verdict === "open") return [formatTarget(selection.target)];
    return selection.stage === "constraints" || selection.stage === "package" ? [] : [selection.target];
  });
}

function settingsOf(settings: LoadSettings): readonly (readonly [string, unknown])[] {
  return loadSettingNames.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]] as const]));
}
