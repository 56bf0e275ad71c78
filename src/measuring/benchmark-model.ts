/** Measures a model on each target that can run it, and records the figures for the policy "fastest". */
import { createRuntime, type RuntimeConfig } from "../api/create-runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { invalidInput } from "../contract/errors.ts";
import { type Figures, type Measurement, measuredMachine, recordMeasurements } from "../speed-records/index.ts";
import { refuseUnknown } from "../runtime/options/options.ts";
import { kindOfFiles } from "./kinds/index.ts";
import { type PlacementOptions, getTargets } from "./on-targets.ts";
import { getFigures, type RoundOptions, runRounds, type RoundsOutcome } from "./rounds.ts";
import type { ModelReport, TargetReport } from "./target-report.ts";

/**
 * Options shared by `benchmarkModel` and `tuneModel`. Each round runs in a child process, so that `settings` may not contain functions or `backends`.
 */
export interface MeasuringOptions extends PlacementOptions, Pick<RoundOptions, "onRound"> {
  /** Settings of `createRuntime` for the measured runtimes. Default: none. */
  readonly settings?: RuntimeConfig | undefined;
  /** Number of measurements of each target. Each measurement runs in its own process. Default: 3. */
  readonly rounds?: number | undefined;
  /** Number of inputs in the bulk call, which measures throughput. Default: 96 texts, pairs or runs; 4 generations. */
  readonly count?: number | undefined;
}

/** Options of `benchmarkModel`. */
export interface BenchmarkOptions extends MeasuringOptions {
  /** Maximum size of one batch of texts in tokens, padding included. Default: 512. */
  readonly batchTokens?: number | undefined;
  /** Whether the figures are stored for the selection policy "fastest". Default: false. */
  readonly record?: boolean | undefined;
}

/** Result of a benchmark of one model. */
export interface Benchmark extends ModelReport<Figures> {
  /** Paths of the files that the figures were written to. */
  readonly recorded: readonly string[];
}

/** Default number of rounds of a benchmark. */
export const defaultRounds = 3;

/** Names of the options shared by all measuring functions. */
export const measuringOptionNames: readonly string[] = [
  "model",
  "settings",
  "variant",
  "target",
  "rounds",
  "count",
  "onRound",
  "signal",
];

/**
 * Measures a model on each target. The figures are medians over rounds: time to load and verify, latency of one input, inputs per second in a bulk
 * call, tokens per second, and memory. The kind of the model decides what one input is: a text, a pair of texts, a generation (64 prompt tokens and
 * 16 generated tokens), or a run on tensors.
 *
 * Throws INPUT_INVALID for unknown options, settings that cannot be passed to another process, and numbers out of range; MODEL_NOT_FOUND; and
 * OUTPUT_FAILED if figures cannot be written.
 */
export async function benchmarkModel(options: BenchmarkOptions): Promise<Benchmark> {
  refuseUnknown(options, [...measuringOptionNames, "batchTokens", "record"], "benchmarkModel");
  checkMeasuring(options, 1);
  const { model, variant, settings = {}, rounds = defaultRounds, count, batchTokens, record = false, onRound, signal } = options;
  const runtime = await createRuntime(settings);
  try {
    const { able, skipped, manifest } = await getTargets(runtime, options);
    const subjects = able.map((target) => ({
      name: `${model} on ${target}`,
      request: { model, target, settings, ...omitUndefined({ variant, count, batchTokens }) },
    }));
    const outcomes = await runRounds(subjects, { rounds, onRound, signal });
    const machine = measuredMachine(await runtime.machine());
    const measured = outcomes.flatMap((outcome, index) => getMeasurement(outcome, able[index] ?? "", machine));
    const kind = outcomes.find((outcome) => outcome.rounds !== undefined)?.rounds?.[0]?.kind ?? kindOfFiles(manifest).name;
    return {
      model,
      kind,
      targets: [...outcomes.map((outcome, index) => getReport(outcome, able[index] ?? "")), ...skipped],
      recorded: record && measured.length > 0 ? await recordMeasurements(measured) : [],
    };
  } finally {
    await runtime.dispose();
  }
}

function getReport({ rounds, failure }: RoundsOutcome, target: string): TargetReport<Figures> {
  return failure ?? { target, verdict: "pass", figures: getFigures(rounds) };
}

function getMeasurement({ rounds }: RoundsOutcome, target: string, machine: Measurement["machine"]): Measurement[] {
  const last = rounds?.at(-1);
  if (rounds === undefined || last === undefined) return [];
  const { model, library, threads, settings } = last;
  return [{ at: new Date().toISOString(), machine, model, target, library, threads, settings, figures: getFigures(rounds) }];
}

/** Throws INPUT_INVALID for numbers out of range, and for settings that cannot be passed to the measuring processes. */
export function checkMeasuring(options: MeasuringOptions, minRounds: number): void {
  const { rounds = defaultRounds, count, settings = {} } = options;
  const { batchTokens } = options as BenchmarkOptions;
  const numbers = [
    ["rounds", rounds, minRounds],
    ["count", count, 1],
    ["batchTokens", batchTokens, 1],
  ] as const;
  for (const [name, value, min] of numbers) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= min)) continue;
    throw invalidInput(`${name} is ${value}`, `give a whole number from ${min}`);
  }
  const own = Object.entries(settings).find(([name, value]) => name === "backends" || typeof value === "function");
  if (own === undefined) return;
  throw invalidInput(`settings has ${own[0]}, and the processes that measure cannot have it`, "leave it out");
}
