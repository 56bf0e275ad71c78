/** Conditions of a build pipeline on a library: what it must be or use, and what it must not. */
import { invalidInput } from "../../contract/errors.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";
import { acceleratorTitles } from "./compute-verdict.ts";
import type { LibraryAcceleratorName, LibraryAnalysis } from "./library-analysis.ts";
import { classRules } from "./library-classes.ts";

/** Names of libraries and accelerators; "ggml" includes "ggml-cpu", "ggml-cuda", ... */
export interface LibraryRequirements {
  readonly require?: readonly string[];
  readonly forbid?: readonly string[];
}

/** Every name that a requirement may have. */
export const requirementNames: readonly string[] = [
  ...new Set([...acceleratorTitles.keys(), ...classRules.map(({ name }) => name)]),
];

/**
 * Describes the unmet requirements, one sentence each; empty if all are met. Names are case-insensitive. Throws INPUT_INVALID for an unknown name.
 */
export function failedRequirements(analysis: LibraryAnalysis, requirements: LibraryRequirements): string[] {
  const require = lowerCase(requirements.require);
  const forbid = lowerCase(requirements.forbid);
  const unknown = [...require, ...forbid].filter((name) => !requirementNames.includes(name));
  if (unknown.length > 0) {
    const [guess] = unknown.flatMap((name) => nearestName(name, requirementNames) ?? []);
    throw invalidInput(
      `no library or accelerator is called ${unknown.join(", ")}`,
      `${guess === undefined ? "" : `did you mean "${guess}"? `}known names: ${requirementNames.join(", ")}`,
    );
  }
  return [
    ...require
      .filter((name) => getReason(analysis, name) === undefined)
      .map((name) => `${analysis.path} is required to have ${name}, and does not`),
    ...forbid.flatMap((name) => {
      const reason = getReason(analysis, name);
      return reason === undefined ? [] : [`${analysis.path} must not have ${name}, and does: ${reason}`];
    }),
  ];
}

function lowerCase(names: readonly string[] = []): readonly string[] {
  return names.map((name) => name.toLowerCase());
}

/** Why the library has what the name says: it uses the accelerator, or is that library at least likely. Undefined if it does not. */
function getReason({ classes, verdict }: LibraryAnalysis, name: string): string | undefined {
  if (verdict.accelerators.some((accelerator) => accelerator === name))
    return `it uses ${acceleratorTitles.get(name as LibraryAcceleratorName) ?? name}`;
  const found = classes.find(
    (each) => each.confidence !== "possible" && (each.name === name || each.name.startsWith(`${name}-`)),
  );
  return found === undefined ? undefined : `it is ${found.title}, ${found.evidence[0] ?? ""}`;
}
