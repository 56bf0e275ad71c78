/** Finds the targets that can run a model, and the reasons why the other targets cannot. */
import type { Runtime } from "../api/runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { type ErrorCode, InferyardError, getMessage } from "../contract/errors.ts";
import { usualKind } from "../models/language-tasks.ts";
import type { Manifest } from "../models/manifest.ts";
import type { ModelOptions } from "../runtime/options/runtime-settings.ts";
import { isNamed, type TargetReport } from "./target-report.ts";

/** The model to run, and the targets to run it on. */
export interface PlacementOptions {
  /** Reference of the model. */
  readonly model: string;
  /** Variant of the model. Default: the variant that a load on each target selects. */
  readonly variant?: string | undefined;
  /** Targets to run the model on. Default: all targets that can run it. */
  readonly target?: string | readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The targets of a model on this machine. */
export interface ModelTargets {
  /** Targets that can run the model, judged by its files, in the order in which selection tries them. */
  readonly able: readonly string[];
  readonly skipped: readonly TargetReport<never>[];
  /** Options for loading the model on one target; the caller adds `target`. */
  readonly loading: Pick<ModelOptions, "variant" | "kind" | "signal">;
  readonly manifest: Manifest;
}

/** Finds the targets of a model. Downloads the model if it is not on this machine. */
export async function getTargets(runtime: Runtime, { model, variant, target, signal }: PlacementOptions): Promise<ModelTargets> {
  const manifest = await runtime.manifest(model, omitUndefined({ variant, signal }));
  const kind = usualKind(manifest);
  const loading = omitUndefined({ variant, kind, signal });
  const { candidates } = await runtime.explain(model, { ...loading, ...omitUndefined({ target }) });
  const able = candidates.filter(({ verdict }) => verdict === "would-run" || verdict === "not-tried");
  const named = typeof target === "string" ? [target] : target;
  const others = candidates.filter(
    ({ verdict, stage, target: other }) =>
      verdict === "refused" && (stage !== "constraints" || named?.some((name) => isNamed(other, name)) === true),
  );
  return {
    able: able.map((each) => each.target),
    skipped: others.map((each) => ({ target: each.target, verdict: "skipped", reason: each.reason })),
    loading,
    manifest,
  };
}

/** Error codes of a target that runs the model incorrectly. Any other error means that the target cannot run the model or the generated inputs. */
const wrongCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "CONTRACT_VIOLATION",
  "HOST_DIED",
  "PLACEMENT_UNPROVEN",
  "REQUEST_TIMEOUT",
  "RUN_FAILED",
  "VERIFICATION_FAILED",
]);

/** Error codes that concern the call, not a target. */
const callCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["ABORTED", "DISPOSED", "CONFIG_INVALID", "MODEL_NOT_FOUND"]);

/**
 * Creates the report on a target from the error of loading or running. Throws errors that concern the call, and errors that are not InferyardErrors.
 */
export function reportFailure(target: string, error: unknown): TargetReport<never> {
  const cause = error instanceof InferyardError && error.cause instanceof InferyardError ? error.cause : error;
  if (!(cause instanceof InferyardError) || callCodes.has(cause.code)) throw error;
  const reason = getMessage(cause).replaceAll(/\s*\n\s*/g, "; ");
  return { target, verdict: wrongCodes.has(cause.code) ? "fail" : "skipped", reason };
}
