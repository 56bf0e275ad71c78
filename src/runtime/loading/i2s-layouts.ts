/** Finds the order of the codes of I2_S weights by the known answers of a model, where its file leaves a choice: see `LoadSettings.i2sLayout`. */
import type { Capabilities, LoadSettings } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";

/** A setting to load a model with; empty: none. */
export type LayoutSetting = Pick<LoadSettings, "i2sLayout">;

/**
 * The settings to try in order until one passes verification. A single one, without a layout, if the user names one, if the file leaves no choice, if the model
 * has no known answers, or if the engine does not read such weights.
 */
export function layoutsToTry(
  { i2sLayouts = [] }: Variant,
  { probe }: Manifest,
  { options }: Capabilities,
  { i2sLayout }: LoadSettings,
): readonly LayoutSetting[] {
  const isOpen = i2sLayout === undefined && probe?.kind === "text" && options.includes("i2sLayout") && i2sLayouts.length > 1;
  return isOpen ? i2sLayouts.map((layout) => ({ i2sLayout: layout })) : [{}];
}

/** Sentence for the evidence: which layout was found, and with which ones the known answers do not hold. */
export function layoutEvidence({ i2sLayout }: LayoutSetting, failures: readonly LayoutFailure[]): readonly string[] {
  if (i2sLayout === undefined) return [];
  const others = failures.map(({ layout }) => layout).join(" and ");
  return [
    `the known answers hold with I2_S weights in the layout ${i2sLayout}${others === "" ? "" : `, and not with ${others}`}`,
  ];
}

/** A layout with which a model did not pass verification. */
export interface LayoutFailure {
  readonly layout: string;
  readonly error: InferyardError;
}

/** The error for a model that passes verification with no layout: the result of each. */
export function noLayout(failures: readonly LayoutFailure[]): InferyardError {
  const each = failures.map(({ layout, error }) => `${layout}: ${error.message}`).join("; ");
  return new InferyardError("VERIFICATION_FAILED", `the model passes with no layout of its I2_S weights: ${each}`, {
    remedy: "get the file again, or correct the known answers in inferyard.json",
  });
}
