/** Measures a model on each target that can run it, and records the figures for the policy "fastest". */
import { createRuntime, type RuntimeConfig } from "../api/create-runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import { type Figures, type Measurement, measuredMachine, recordMeasurements } from "../measurements/index.ts";
import { refuseUnknown } from "../runtime/options/options.ts";
import { kindOfFiles } from "./kinds/index.ts";
import { type PlacementOptions, targetsOf } from "./on-targets.ts";
import { figuresOf, type RoundOptions, runRounds, type RoundsOutcome } from "./rounds.ts";
import type { ModelReport, TargetReport } from "./target-report.ts";

/** What is measured, and how. Settings of a runtime are those of `createRuntime`, but nothing that only this process has: no functions and no `backends`. */
export interface MeasuringOptions extends PlacementOptions, Pick<RoundOptions, "onRound"> {
  /** Settings of the runtimes that measure. Default: none. */
  readonly settings?: RuntimeConfig | undefined;
  /** How often each target is measured, each time in a process of its own. Default: 3. */
  readonly rounds?: number | undefined;
  /** Number of inputs of the call with many. Default: 96 texts, pairs or runs; 4 generations. */
  readonly count?: number | undefined;
}

/** Options of `benchmarkModel`. */
export interface BenchmarkOptions extends MeasuringOptions {
  /** Maximum size of one batch of texts in tokens, padding included. Default: 512. */
  readonly batchTokens?: number | undefined;
  /** Whether the figures are kept for the policy "fastest". Default: false. */
  readonly record?: boolean | undefined;
}

/** A benchmark of one model. */
export interface Benchmark extends ModelReport<Figures> {
  /** Paths of the files that the figures were written to. */
  readonly recorded: readonly string[];
}

/** Rounds of a benchmark where nobody says. */
export const defaultRounds = 3;

/** Names of the options that all functions that measure have. */
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
 * Measures a model on each target: medians over rounds of the time to load and verify, of the time for one input, of the inputs per second in a call with many, of the
 * tokens per second, and of the memory. One input is a text, a pair of texts, a generation (64 tokens of prompt, 16 behind them) or a run on tensors,
 * by the kind of the model.
 *
 * Throws INPUT_INVALID for unknown options, settings that no other process can have, and numbers out of range; MODEL_NOT_FOUND; and OUTPUT_FAILED where
 * figures cannot be written.
 */
export async function benchmarkModel(options: BenchmarkOptions): Promise<Benchmark> {
  refuseUnknown(options, [...measuringOptionNames, "batchTokens", "record"], "benchmarkModel");
  checkMeasuring(options, 1);
  const { model, variant, settings = {}, rounds = defaultRounds, count, batchTokens, record = false, onRound, signal } = options;
  const runtime = await createRuntime(settings);
  try {
    const { able, skipped, manifest } = await targetsOf(runtime, options);
    const subjects = able.map((target) => ({
      name: `${model} on ${target}`,
      request: { model, target, settings, ...omitUndefined({ variant, count, batchTokens }) },
    }));
    const outcomes = await runRounds(subjects, { rounds, onRound, signal });
    const machine = measuredMachine(await runtime.machine());
    const measured = outcomes.flatMap((outcome, index) => measurementOf(outcome, able[index] ?? "", machine));
    const kind = outcomes.find((outcome) => outcome.rounds !== undefined)?.rounds?.[0]?.kind ?? kindOfFiles(manifest).name;
    return {
      model,
      kind,
      targets: [...outcomes.map((outcome, index) => reportOf(outcome, able[index] ?? "")), ...skipped],
      recorded: record && measured.length > 0 ? await recordMeasurements(measured) : [],
    };
  } finally {
    await runtime.dispose();
  }
}

function reportOf({ rounds, failure }: RoundsOutcome, target: string): TargetReport<Figures> {
  return failure ?? { target, verdict: "pass", figures: figuresOf(rounds) };
}

function measurementOf({ rounds }: RoundsOutcome, target: string, machine: Measurement["machine"]): Measurement[] {
  const last = rounds?.at(-1);
  if (rounds === undefined || last === undefined) return [];
  const { model, library, threads, settings } = last;
  return [{ at: new Date().toISOString(), machine, model, target, library, threads, settings, figures: figuresOf(rounds) }];
}

/** Throws INPUT_INVALID for numbers out of range, and for settings that do not reach the processes that measure. */
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
    throw new InferyardError("INPUT_INVALID", `${name} is ${value}`, { remedy: `give a whole number from ${min}` });
  }
  const own = Object.entries(settings).find(([name, value]) => name === "backends" || typeof value === "function");
  if (own === undefined) return;
  throw new InferyardError("INPUT_INVALID", `settings has ${own[0]}, and the processes that measure cannot have it`, {
    remedy: "leave it out",
  });
}
