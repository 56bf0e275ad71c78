/** The decision: the record of one selection. The library, the command line, logs and HTTP give it in the same shape. */
import { omitUndefined } from "../../contract/checked.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import { formatPattern } from "../targets/target.ts";
import type { Constraints } from "../targets/constraints.ts";
import type { Candidate, Decision, Selected } from "./generated-decision.ts";

export type * from "./generated-decision.ts";

/** The data of a decision. `variant` and `digest` are undefined if nothing was loaded. */
export interface DecisionParts {
  readonly manifest: Manifest;
  readonly constraints: Constraints;
  readonly candidates: readonly Candidate[];
  readonly selected: Selected | null;
  readonly variant?: Pick<Variant, "name" | "format" | "packing">;
  readonly digest?: string;
}

/** Makes a decision with a new id and the current time. */
export function makeDecision(parts: DecisionParts): Decision {
  const { manifest, constraints } = parts;
  const formats = [...new Set(manifest.variants.map((variant) => variant.format))];
  return {
    id: crypto.randomUUID(),
    at: new Date().toISOString(),
    model: {
      reference: manifest.reference,
      format: parts.variant?.format ?? formats.join(", "),
      ...(parts.variant === undefined ? {} : { variant: parts.variant.name }),
      ...(parts.variant?.packing === undefined ? {} : { packedFrom: parts.variant.packing.from }),
      ...(manifest.unreadable === undefined
        ? {}
        : { unreadable: manifest.unreadable.map(({ name, reason }) => ({ variant: name, reason })) }),
      ...omitUndefined({ digest: parts.digest }),
    },
    constraints: {
      policy: constraints.policy,
      preferred: constraints.preferred.map(formatPattern),
      required: constraints.required.map((alternatives) => alternatives.map(formatPattern).join(" or ")),
      excluded: constraints.excluded.map(formatPattern),
    },
    candidates: parts.candidates,
    selected: parts.selected,
  };
}
