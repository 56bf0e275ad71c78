/** Written by `npm run schemas`; the zod schema beside it is the source. */

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
  /** backend:device[:index] */
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
  /** Milliseconds spent loading and verifying. Absent if the candidate was not tried. */
  readonly milliseconds?: number;
}

/** The selected target, its engine, its host, and the engine's own evidence. */
export interface Selected {
  readonly target: string;
  readonly device: string;
  readonly library: {
    readonly name: string;
    readonly version: string;
    /** All files of native code that compute: the library and what it loads. Absent if the engine does not say. */
    readonly files?: readonly {
      readonly name: string;
      readonly sha256: string;
    }[];
  };
  readonly host: string;
  /** The engine's own report about where it computed. */
  readonly evidence: readonly string[];
  /** Why the engine's evidence does not prove where it computed. Absent if it does. */
  readonly unproven?: string;
  /** What the load reduced so that the model fits into the memory: the length of the context, and why. Absent if nothing. */
  readonly givenUp?: string;
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
    /** The variant of the files whose weights were packed to `variant` while loading. Absent if they run as they are in the file. */
    readonly packedFrom?: string;
    /** Variants that could not be read and were left out, with the reason. Absent if all could be read. */
    readonly unreadable?: readonly {
      readonly variant: string;
      readonly reason: string;
    }[];
    /** Digest, "sha256:…", of the variant's main file. Absent if nothing was loaded. */
    readonly digest?: string;
  };
  readonly constraints: {
    readonly policy: "priority" | "manifest" | "fastest";
    readonly preferred: readonly string[];
    readonly required: readonly string[];
    readonly excluded: readonly string[];
  };
  /** All targets considered, in the order of preference. */
  readonly candidates: readonly Candidate[];
  /** The selected target and engine; null if nothing was loaded. */
  readonly selected: Selected | null;
}
