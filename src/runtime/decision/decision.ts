/** The record of one selection: the same shape for the library's caller, the command line, logs and HTTP. */
import type { Library } from "../../backend.ts";
import type { Manifest } from "../../models/manifest.ts";
import { formatPattern } from "../selection/target.ts";
import type { Policy, Constraints } from "../selection/constraints.ts";

/** The step at which a candidate's fate was settled. */
export type Stage =
  | "constraints"
  | "manifest"
  | "package"
  | "probe"
  | "device"
  | "capability"
  | "requirement"
  | "circuit"
  | "load"
  | "verify";

/** "would-run" appears only where nothing is loaded (`explain`). */
export type Verdict = "selected" | "would-run" | "refused" | "failed" | "not-tried";

export interface Candidate {
  readonly target: string;
  readonly verdict: Verdict;
  readonly stage: Stage;
  /** A sentence a user understands, without a full stop. */
  readonly reason: string;
  /** A command or a setting that would change the verdict. */
  readonly remedy?: string;
  /** Under the policy "fastest", of a candidate that can run: how fast it was measured to be, or why no measurement counts. */
  readonly note?: string;
  /** Time spent loading and verifying, where that was tried. */
  readonly milliseconds?: number;
}

export interface Decision {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly model: {
    readonly reference: string;
    readonly format: string;
    readonly variant?: string;
    /** "sha256:…" of the variant's main file; left out where nothing was loaded. */
    readonly digest?: string;
  };
  readonly constraints: {
    readonly policy: Policy;
    readonly preferred: readonly string[];
    readonly required: readonly string[];
    readonly excluded: readonly string[];
  };
  /** In the order of preference. */
  readonly candidates: readonly Candidate[];
  /** null where nothing was loaded. */
  readonly selected: Selected | null;
}

export interface Selected {
  readonly target: string;
  readonly device: string;
  readonly library: Library;
  readonly host: string;
  /** What the engine itself said, never what was asked for. */
  readonly evidence: readonly string[];
}

export interface DecisionParts {
  readonly manifest: Manifest;
  readonly constraints: Constraints;
  readonly candidates: readonly Candidate[];
  readonly selected: Selected | null;
  readonly variant?: { readonly name: string; readonly format: string };
  readonly digest?: string;
}

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
      ...(parts.digest === undefined ? {} : { digest: parts.digest }),
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
