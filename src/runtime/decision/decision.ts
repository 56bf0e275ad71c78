/** The decision: the record of one selection. The library, the command line, logs and HTTP give it in the same shape. */
import type { Library } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import { formatPattern } from "../targets/target.ts";
import type { Policy, Constraints } from "../targets/constraints.ts";

/** The step that gave a candidate its verdict. `docs/reference/decision.md` explains each. */
export type SelectionStage =
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

/** Result for one candidate. "would-run" occurs only in `explain`, which loads nothing. */
export type Verdict = "selected" | "would-run" | "refused" | "failed" | "not-tried";

/** One target that was considered, with its verdict and the reason. */
export interface Candidate {
  readonly target: string;
  /** Variant that was tried, where the target was tried with several. */
  readonly variant?: string;
  readonly verdict: Verdict;
  readonly stage: SelectionStage;
  /** A sentence for the user, without a full stop. */
  readonly reason: string;
  /** A command or a setting that would change the verdict. */
  readonly remedy?: string;
  /** Under the policy "fastest", for candidates that can run: the measured speed, or why no measurement applies. */
  readonly note?: string;
  /** Milliseconds spent loading and verifying. Undefined if the candidate was not tried. */
  readonly milliseconds?: number;
}

/** The record of one selection. Plain data that survives JSON. */
export interface Decision {
  readonly id: string;
  /** Time of the decision, ISO 8601 in UTC. */
  readonly at: string;
  readonly model: {
    readonly reference: string;
    readonly format: string;
    readonly variant?: string;
    /** The variant of the files whose weights were packed to `variant` while loading. Undefined if they run as they are in the file. */
    readonly packedFrom?: string;
    /** Variants that could not be read and were left out, with the reason. Undefined if all could be read. */
    readonly unreadable?: readonly { readonly variant: string; readonly reason: string }[];
    /** Digest, "sha256:…", of the variant's main file. Undefined if nothing was loaded. */
    readonly digest?: string;
  };
  readonly constraints: {
    readonly policy: Policy;
    readonly preferred: readonly string[];
    readonly required: readonly string[];
    readonly excluded: readonly string[];
  };
  /** All targets considered, in order of preference. */
  readonly candidates: readonly Candidate[];
  /** The selected target and engine; null if nothing was loaded. */
  readonly selected: Selected | null;
}

/** The selected target, its engine, its host, and the engine's own evidence. */
export interface Selected {
  readonly target: string;
  readonly device: string;
  readonly library: Library;
  readonly host: string;
  /** The engine's own report about where it computed. */
  readonly evidence: readonly string[];
  /** Why the engine's evidence does not prove where it computed. Undefined if it does. */
  readonly unproven?: string;
  /** What the load reduced so that the model fits into the memory: the length of the context, and why. Undefined if nothing. */
  readonly givenUp?: string;
}

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
