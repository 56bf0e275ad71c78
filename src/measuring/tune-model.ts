/** Searches for the settings with which a model runs fastest on one target of this machine. */
import { createRuntime } from "../api/create-runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { invalidInput } from "../contract/errors.ts";
import { threadsFor } from "../devices/index.ts";
import { refuseUnlisted } from "../runtime/options/option.ts";
import { refuseUnknown } from "../runtime/options/options.ts";
import { defaultBatchTokens } from "../tasks/batching/plan-batches.ts";
import { checkMeasuring, defaultRounds, type MeasuringOptions, measuringOptionNames } from "./benchmark-model.ts";
import { kindOfFiles, type MeasuredKind } from "./kinds/index.ts";
import { getTargets } from "./on-targets.ts";
import { runRounds } from "./rounds.ts";
import { type Knob, knobs, type Point, search, type SearchPlan, type SearchResult } from "./search.ts";
import type { ModelReport, TargetReport } from "./target-report.ts";

/** Options of `tuneModel`. */
export interface TuneOptions extends MeasuringOptions {
  /** Settings to vary. Default: all settings that affect the kind of the model. */
  readonly only?: readonly Knob[] | undefined;
}

/** Result of tuning on one target. */
export interface TuneFigures extends SearchResult {
  /** The default values, which are the baseline of all comparisons. */
  readonly start: Point;
  /** Settings whose new values were confirmed to be better than the defaults. Empty if none was. */
  readonly settings: Partial<Point>;
}

/** Number of additional rounds in the final comparison with the defaults. */
const extraFinalRounds = 2;
const batchSizes = [256, 512, 1024, 2048];

/**
 * Measures values of `threads`, `replicas` and `batchTokens` against the defaults, by coordinate descent, on the first target that can run the model,
 * or on the target that `target` names. Each value is measured alternating with the best value so far, and the final result is compared once more
 * with the defaults. A value is dropped unless its gain exceeds the spread between rounds.
 *
 * Throws INPUT_INVALID for unknown options, numbers out of range, fewer than two rounds, runtime settings that tuning varies itself, and settings in
 * `only` that do not affect the kind of the model. Throws MODEL_NOT_FOUND.
 */
export async function tuneModel(options: TuneOptions): Promise<ModelReport<TuneFigures>> {
  refuseUnknown(options, [...measuringOptionNames, "only"], "tuneModel");
  checkTuning(options);
  const { model, variant, settings = {}, rounds = defaultRounds, count, only, onRound, signal } = options;
  const runtime = await createRuntime(settings);
  try {
    const { able, skipped, manifest } = await getTargets(runtime, options);
    const kind = kindOfFiles(manifest);
    refuseWithoutEffect(kind, only, model);
    const { cpu } = await runtime.machine();
    const plan = planFor(threadsFor(cpu), rounds, only ?? kind.knobs, kind);
    const reports: TargetReport<TuneFigures>[] = [];
    for (const target of able) {
      const report = await tuneTarget(plan, target, async (points, times) => {
        const subjects = points.map(({ batchTokens, ...point }) => ({
          name: `${model} on ${target} with ${describePoint({ ...point, batchTokens })}`,
          request: { model, target, settings: { ...settings, ...point }, batchTokens, ...omitUndefined({ variant, count }) },
        }));
        return runRounds(subjects, { rounds: times, onRound, signal });
      });
      reports.push(report);
      if (report.verdict === "pass") break; // settings hold for all targets: the one that would run decides
    }
    return { model, kind: kind.name, targets: [...reports, ...skipped] };
  } finally {
    await runtime.dispose();
  }
}

async function tuneTarget(
  plan: SearchPlan,
  target: string,
  measure: (points: readonly Point[], rounds: number) => ReturnType<typeof runRounds>,
): Promise<TargetReport<TuneFigures>> {
  let failure: TargetReport<never> | undefined;
  const result = await search(plan, async (points, rounds) => {
    if (failure !== undefined) return points.map(() => undefined);
    const outcomes = await measure(points, rounds);
    failure = outcomes[0]?.failure;
    return outcomes.map((outcome) => outcome.rounds);
  });
  if (failure !== undefined) return failure;
  const settings = Object.fromEntries(
    knobs.filter((knob) => result.best[knob] !== plan.start[knob]).map((knob) => [knob, result.best[knob]]),
  );
  return { target, verdict: "pass", figures: { start: plan.start, ...result, settings } };
}

/** Plan of a search that starts from the defaults: as many threads as the CPU quota, automatic replicas, batches of 512 tokens. */
function planFor(cores: number, rounds: number, only: readonly Knob[], kind: MeasuredKind): SearchPlan {
  const powers = [1, 2, 4, 8, 16, 32, 64].filter((number) => number < cores);
  const tried = (knob: Knob): boolean => only.includes(knob) && kind.knobs.includes(knob);
  return {
    start: { threads: cores, replicas: "auto", batchTokens: defaultBatchTokens },
    values: {
      threads: tried("threads") ? [...powers, cores] : [],
      replicas: tried("replicas") ? ["auto", ...powers, cores] : [],
      batchTokens: tried("batchTokens") ? batchSizes : [],
    },
    rounds,
    finalRounds: rounds + extraFinalRounds,
  };
}

function checkTuning(options: TuneOptions): void {
  const { only = [], settings = {}, rounds = defaultRounds } = options;
  for (const knob of only) refuseUnlisted("a setting of only", knob, knobs);
  const given = knobs.find((knob) => knob in settings);
  if (given !== undefined) {
    throw invalidInput(`tune tries values of ${given} itself`, "leave it out; only chooses which settings are tried");
  }
  if (rounds === 1) {
    throw invalidInput("one round does not tell a gain from chance", "give 2 rounds or more, or leave their number out");
  }
  checkMeasuring(options, 2);
}

function refuseWithoutEffect(kind: MeasuredKind, only: readonly Knob[] | undefined, model: string): void {
  const other = only?.find((knob) => !kind.knobs.includes(knob));
  if (other === undefined) return;
  throw invalidInput(
    `${other} changes nothing for ${model}, a model of the kind ${kind.name}`,
    `choose among ${kind.knobs.join(", ")}`,
  );
}

function describePoint({ threads, replicas, batchTokens }: Point): string {
  return `threads ${threads}, replicas ${replicas}, batchTokens ${batchTokens}`;
}
