/** Verifies a model on each target: known answers, repeatability, and agreement with the other targets. */
import type { Runtime } from "../api/runtime.ts";
import { invalidInput } from "../contract/errors.ts";
import type { ManifestKnownAnswer } from "../models/manifest.ts";
import { refuseUnknown } from "../runtime/options/options.ts";
import { compareTargets } from "./compare-targets.ts";
import { kindOfFiles, kindOfLoaded, type KindTest, type MeasuredKind } from "./kinds/index.ts";
import { type PlacementOptions, reportFailure, getTargets } from "./on-targets.ts";
import type { ModelReport, TargetReport } from "./target-report.ts";
import { type TargetCheck, testTarget, type TestedTarget } from "./test-target.ts";

/** Options of `verifyModel`. */
export interface VerifyOptions extends PlacementOptions {
  /** Known answers for an embedding model (texts and expected vectors), in addition to the known answers in its manifest. Default: none. */
  readonly answers?: readonly ManifestKnownAnswer[] | undefined;
  /** Called before each target is tested. Default: no callback. */
  readonly onTarget?: ((target: string) => void) | undefined;
}

/** Result of verifying one target. */
export interface VerifyFigures {
  readonly variant: string;
  readonly checks: readonly TargetCheck[];
  /** Evidence from loading the model: see `Selected.evidence`. */
  readonly evidence: readonly string[];
  /** Time of loading and testing in milliseconds. */
  readonly milliseconds: number;
}

const optionNames = ["model", "variant", "target", "answers", "onTarget", "signal"];

/**
 * Loads a model on each target that can run it, and runs the same inputs on all of them: texts, pairs of texts, a prompt with its continuation, or
 * tensors filled with fixed values, depending on the kind of the model. A target fails if outputs are not finite, differ between two calls, depend on
 * other inputs in the batch, miss a known answer, or differ from the other targets by more than the tolerance for the precision of the weights.
 * Errors of a target are reported, not thrown.
 *
 * Throws INPUT_INVALID for unknown options and for `answers` of a model that gives no vectors, and MODEL_NOT_FOUND.
 */
export async function verifyModel(runtime: Runtime, options: VerifyOptions): Promise<ModelReport<VerifyFigures>> {
  refuseUnknown(options, optionNames, "verifyModel");
  const { model, answers = [], onTarget, signal } = options;
  const { able, skipped, loading, manifest } = await getTargets(runtime, options);
  if (answers.length > 0 && kindOfFiles(manifest).name !== "embedding") {
    throw invalidInput(
      `known answers are vectors of texts, and ${model} is not an embedding model`,
      "leave them out: targets are compared with one another",
    );
  }
  const failed = new Map<string, TargetReport<never>>();
  const tested = new Map<string, TestedTarget & { readonly milliseconds: number }>();
  let kind: MeasuredKind | undefined;
  let test: KindTest | undefined;
  for (const target of able) {
    onTarget?.(target);
    const started = performance.now();
    try {
      const handle = await runtime.load(model, { ...loading, target });
      try {
        kind ??= kindOfLoaded(handle);
        test ??= kind.startTest();
        const result = await testTarget({ runtime, handle, signal }, test, answers);
        tested.set(target, { ...result, milliseconds: performance.now() - started });
      } finally {
        await handle.dispose();
        await runtime.unloadIdle();
      }
    } catch (error) {
      failed.set(target, reportFailure(target, error));
    }
  }
  const checked = compareTargets([...tested.values()]);
  const reports = able.flatMap((target) => {
    const [result, checks] = [tested.get(target), checked.get(target)];
    if (result === undefined || checks === undefined) return failed.get(target) ?? [];
    const { variant, evidence, milliseconds } = result;
    return getReport(target, { variant, checks, evidence, milliseconds });
  });
  return { model, kind: (kind ?? kindOfFiles(manifest)).name, targets: [...reports, ...skipped] };
}

function getReport(target: string, figures: VerifyFigures): TargetReport<VerifyFigures> {
  const broken = figures.checks.filter(({ verdict }) => verdict === "fail");
  if (broken.length === 0) return { target, verdict: "pass", figures };
  return { target, verdict: "fail", reason: broken.map(({ name, detail }) => `${name}: ${detail}`).join("; "), figures };
}
