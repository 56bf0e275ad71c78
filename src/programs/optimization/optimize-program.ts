/** Searches for the fastest form of a program on a backend. */
import { InferyardError, invalidInput, throwIfAborted } from "../../contract/errors.ts";
import { parseDuration } from "../../runtime/options/duration.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { probeSafely, type ProgramBackends, type ResolvedBackend } from "../backends/program-backends.ts";
import { standardProgramBackends } from "../backends/standard-program-backends.ts";
import { SessionFailure } from "../compilation/program-session.ts";
import { ReferenceAnswers } from "../compilation/reference-answers.ts";
import { readProgramWeights } from "../compilation/compile-program.ts";
import { checkSizes } from "../definition/check-program.ts";
import { programFromModel } from "../definition/program-from-model.ts";
import { freeDimensions, type Program } from "../definition/program.ts";
import type { TensorArgument } from "../definition/tensor-arguments.ts";
import { type Sizes, sizedShape } from "../definition/trace-program.ts";
import type { ProgramMode } from "../interface/program-backend.ts";
import { type ProgramCandidate, type ChosenSettings, describeGraph, workOf } from "./candidate.ts";
import { type KeptResult, KeptResultFile } from "./kept-results.ts";
import { OperatorGraph } from "./operator-graph.ts";
import type { OptimizationReport } from "./optimization-report.ts";
import { type BackendPeaks, backendPeaks, rooflineMs } from "./roofline.ts";
import { rewriteRules } from "./rules/index.ts";
import { isAborted, ProgramSearch } from "./search.ts";
import { compareTimes, TimedCandidate, type TrialSettings } from "./timed-candidate.ts";

/** Options of `optimize`. */
export interface OptimizeOptions {
  /** The backend that candidates are timed on, as `compileProgram` takes it. Default: "native". */
  readonly backend?: string;
  /** Time of the search: milliseconds, or a text such as "30s". What was begun is ended first; 0 changes nothing. Default: "30s". */
  readonly budget?: number | string;
  /** The weights by name, as `compileProgram` takes them. Default: none. */
  readonly weights?: Readonly<Record<string, TensorArgument>>;
  /** Sizes of free dimensions to optimize for. Default: sizes that the program was checked with when it was defined. */
  readonly sizes?: Readonly<Record<string, number>>;
  /** As `compileProgram` takes it; candidates of the mode "throughput" run on one thread. Default: "latency". */
  readonly mode?: ProgramMode;
  /** Bytes that a candidate may need. Default: the free memory. */
  readonly maxMemory?: number;
  /** Search again although a result is kept on this machine. Default: false. */
  readonly fresh?: boolean;
  /** Backends to choose from. Default: those of this package. */
  readonly backends?: ProgramBackends;
  /** Ends the search with ABORTED. */
  readonly signal?: AbortSignal;
}

/** The fastest form of a program that was found. */
export interface OptimizedProgram {
  /** The program with its weights inside, for `compileProgram`; the given program itself if nothing is faster. */
  readonly program: Program;
  /** Weights that `program` takes: none if it was rewritten. */
  readonly weights: Readonly<Record<string, TensorArgument>>;
  /** Settings for `compileProgram` that were faster. */
  readonly settings: ChosenSettings;
  readonly report: OptimizationReport;
}

const optionNames: readonly string[] = [
  "backend",
  "budget",
  "weights",
  "sizes",
  "mode",
  "maxMemory",
  "fresh",
  "backends",
  "signal",
];
/** Speedup of the result against the original from which on it is returned. */
const minSpeedup = 1.02;

/**
 * Searches for the fastest form of a program on a backend: rewrites it, proves each rewrite over finite fields, holds each candidate against the interpreter, and
 * times it. Results are kept on disk; a later call with the same graph, sizes, backend and processor applies them. Throws INPUT_INVALID for options and weights that
 * do not fit, BACKEND_UNAVAILABLE, MODEL_UNSUPPORTED for programs with user-defined operators and for weights in blocks, and ABORTED.
 */
export async function optimize(program: Program, options: OptimizeOptions = {}): Promise<OptimizedProgram> {
  const started = performance.now();
  checkOptions(options);
  const {
    backend: asked = "native",
    budget = "30s",
    weights: given = {},
    mode = "latency",
    maxMemory,
    signal,
    fresh = false,
  } = options;
  throwIfAborted(signal);
  const budgetMs = readBudget(budget);
  const sizes = readSizes(program, options.sizes ?? {});
  const weights = readProgramWeights(program, given);
  const backend = resolveBackend(options.backends ?? standardProgramBackends(), asked);
  const unchanged = { program, weights: given, settings: {} };
  const base = { backend: asked, sizes: Object.fromEntries(sizes) };
  if (budgetMs === 0)
    return { ...unchanged, report: { ...base, ...untouched, target: asked, searchMs: performance.now() - started } };

  const found = await probeSafely(backend);
  if (!found.isAvailable) throw new InferyardError("BACKEND_UNAVAILABLE", `${asked}: ${found.reason}`, { remedy: found.remedy });
  const original = readOriginal(program, weights, sizes);
  const limit = AbortSignal.timeout(Math.max(1, Math.round(budgetMs - (performance.now() - started))));
  const trial: TrialSettings = {
    program,
    backend,
    sizes,
    mode,
    answers: new ReferenceAnswers(program, weights, noInputs),
    maxMemory,
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
  };
  const file = new KeptResultFile({
    graph: describeGraph(original.graph),
    sizes: [...sizes],
    backend: asked,
    mode,
    library: `${found.library.name} ${found.library.version}`,
  });
  const kept = fresh ? undefined : file.read();
  const task = { trial, original, file, budgetMs, unchanged, base, started, signal };
  try {
    return kept === undefined || kept.budgetMs < budgetMs ? await searchNow(task) : await useKept(task, kept);
  } catch (error) {
    throwIfAborted(signal);
    if (!(error instanceof SessionFailure)) throw error;
    throw new InferyardError("BACKEND_UNAVAILABLE", `${asked} does not run the program: ${error.message}`, { cause: error });
  }
}

const noInputs: TensorMap = {};
const untouched = {
  from: "none",
  steps: [],
  settings: {},
  speedup: 1,
  tried: [],
  ended: "none",
  notes: ["a budget of zero changes nothing"],
} as const;

/** One call of `optimize` after its options were checked. */
interface Task {
  readonly trial: TrialSettings;
  readonly original: ProgramCandidate;
  readonly file: KeptResultFile;
  readonly budgetMs: number;
  readonly unchanged: Omit<OptimizedProgram, "report">;
  readonly base: Pick<OptimizationReport, "backend" | "sizes">;
  readonly started: number;
  readonly signal: AbortSignal | undefined;
}

/** Applies what an earlier search found, proves it and holds it against the interpreter again; searches if that fails. */
async function useKept(task: Task, kept: KeptResult): Promise<OptimizedProgram> {
  const { trial, original, unchanged, base, started } = task;
  const unlimited = { ...trial, signal: task.signal ?? new AbortController().signal };
  const search = new ProgramSearch(unlimited, rewriteRules, kept.peaks);
  const best = search.replay(original, kept.steps, kept.settings);
  if (best === undefined) return await searchNow(task);
  const { originalMs, milliseconds, peaks } = kept;
  const model = await search.model(best);
  const checked = await TimedCandidate.open(model, unlimited, kept.settings).catch((error: unknown) => {
    if (error instanceof SessionFailure) return undefined;
    throw error;
  });
  if (checked === undefined) return await searchNow(task);
  const { target } = checked;
  await checked.dispose();
  const report: OptimizationReport = {
    ...base,
    target,
    from: "kept",
    steps: kept.steps,
    settings: kept.settings,
    originalMs,
    milliseconds,
    speedup: originalMs / milliseconds,
    roofline: shareOf(peaks, best, milliseconds),
    tried: [],
    ended: "kept",
    searchMs: performance.now() - started,
    notes: [`found on ${kept.at} by a search on this machine`],
  };
  if (kept.steps.length === 0) return { ...unchanged, settings: kept.settings, report };
  return { program: programFromModel(model, trial.program), weights: {}, settings: kept.settings, report };
}

async function searchNow({ trial, original, file, budgetMs, unchanged, base, started, signal }: Task): Promise<OptimizedProgram> {
  const notes: string[] = [];
  const measured = await backendPeaks(trial.backend, trial.signal).catch((error: unknown) => {
    if (signal?.aborted !== true && isAborted(error, trial.signal)) return undefined;
    throw error;
  });
  const nothing = (reason: string): OptimizedProgram => ({
    ...unchanged,
    report: {
      ...base,
      ...untouched,
      target: base.backend,
      from: "search",
      ended: "budget",
      searchMs: performance.now() - started,
      notes: [reason],
    },
  });
  if (measured === undefined) return nothing("the budget ended before anything was timed");
  const search = new ProgramSearch(trial, rewriteRules, measured);
  const ran = await search.run(original).catch((error: unknown) => {
    if (signal?.aborted !== true && isAborted(error, trial.signal)) return undefined;
    throw error;
  });
  if (ran === undefined) return nothing("the budget ended before anything was timed");
  const { best, tried, ended, target, peaks } = ran;
  throwIfAborted(signal);
  // What was found is held against the original once more, and without the limit of the budget: it is two runs of both.
  const unlimited = { ...trial, signal: signal ?? new AbortController().signal };
  const confirmed =
    best === original
      ? undefined
      : await confirm(new ProgramSearch(unlimited, rewriteRules, peaks), { original, best }, unlimited);
  const isFaster = confirmed !== undefined && confirmed.speedup >= minSpeedup;
  if (confirmed !== undefined && !isFaster)
    notes.push(`beside the original the result was not faster: ${confirmed.speedup.toFixed(2)} times`);
  const final = isFaster ? best : original;
  const originalMs = confirmed?.otherMilliseconds ?? ran.originalMs;
  const milliseconds = isFaster ? confirmed.milliseconds : originalMs;
  if (originalMs !== undefined && milliseconds !== undefined) {
    const { steps, settings } = final;
    const problem = await file.write({
      steps,
      settings,
      originalMs,
      milliseconds,
      peaks,
      at: new Date().toISOString(),
      budgetMs,
    });
    if (problem !== undefined) notes.push(`the result is not kept: ${problem}`);
  }
  const report: OptimizationReport = {
    ...base,
    target,
    from: "search",
    steps: final.steps,
    settings: final.settings,
    originalMs,
    milliseconds,
    roofline: milliseconds === undefined ? undefined : shareOf(peaks, final, milliseconds),
    speedup: isFaster ? confirmed.speedup : 1,
    tried,
    ended,
    searchMs: performance.now() - started,
    notes,
  };
  if (!isFaster || confirmed.model === undefined) return { ...unchanged, settings: final.settings, report };
  return { program: programFromModel(confirmed.model, trial.program), weights: {}, settings: final.settings, report };
}

/** Times the result beside the original. `model`: the rewritten model, undefined if only settings changed. */
async function confirm(
  search: ProgramSearch,
  { original, best }: { readonly original: ProgramCandidate; readonly best: ProgramCandidate },
  trial: TrialSettings,
): Promise<{
  readonly milliseconds: number;
  readonly otherMilliseconds: number;
  readonly speedup: number;
  readonly model: Awaited<ReturnType<ProgramSearch["model"]>> | undefined;
}> {
  const model = await search.model(best);
  const before = await TimedCandidate.open(await search.model(original), trial, original.settings);
  try {
    const after = await TimedCandidate.open(model, trial, best.settings);
    try {
      const times = await compareTimes(after, before, trial.signal);
      return { ...times, model: best.steps.length === 0 ? undefined : model };
    } finally {
      await after.dispose();
    }
  } finally {
    await before.dispose();
  }
}

function shareOf(peaks: BackendPeaks, { graph }: ProgramCandidate, milliseconds: number): OptimizationReport["roofline"] {
  const bound = rooflineMs(peaks, workOf(graph));
  return { ...peaks, milliseconds: bound, share: bound / milliseconds };
}

function readOriginal(program: Program, weights: Parameters<Program["toOnnx"]>[0], sizes: Sizes): ProgramCandidate {
  const model = program.toOnnx(weights);
  const packed = [...model.graph.initializers].find(([, { storage }]) => storage?.blocks !== undefined);
  if (packed !== undefined)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `the weight "${packed[0]}" is quantized in blocks, which no rewrite computes with`,
    );
  const types = [...program.inputs, ...program.states].map(
    ({ name, dataType, shape }) => [name, { dataType, shape: sizedShape(shape, sizes) }] as const,
  );
  return { graph: new OperatorGraph(model, new Map(types)), steps: [], settings: {} };
}

function checkOptions(options: OptimizeOptions): void {
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown !== undefined) throw invalidInput(`"${unknown}" is no option of optimize`, `it has ${optionNames.join(", ")}`);
  const { backend, mode, maxMemory, fresh } = options;
  if (backend !== undefined && typeof backend !== "string")
    throw invalidInput(`backend is ${JSON.stringify(backend)}, and must be a name`);
  if (mode !== undefined && mode !== "latency" && mode !== "throughput")
    throw invalidInput(`mode is ${JSON.stringify(mode)}, and must be "latency" or "throughput"`);
  if (maxMemory !== undefined && !(typeof maxMemory === "number" && maxMemory >= 0))
    throw invalidInput(`maxMemory is ${maxMemory}, and must be a number of bytes`);
  if (fresh !== undefined && typeof fresh !== "boolean")
    throw invalidInput(`fresh is ${JSON.stringify(fresh)}, and must be true or false`);
}

function readBudget(budget: number | string): number {
  try {
    const milliseconds = parseDuration(budget);
    if (milliseconds <= maxBudgetMs) return milliseconds;
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
  }
  throw invalidInput(
    `budget is ${JSON.stringify(budget)}, and must be milliseconds, or a duration such as "30s", "5m" or "1h", up to a day`,
  );
}

const maxBudgetMs = 24 * 60 * 60 * 1000;

function readSizes(program: Program, given: Readonly<Record<string, number>>): Sizes {
  const names = freeDimensions(program);
  checkSizes(names, given);
  return new Map(names.map((name) => [name, given[name] ?? program.exampleSizes.get(name) ?? 1]));
}

function resolveBackend(backends: ProgramBackends, asked: string): ResolvedBackend {
  const found = backends.resolve(asked);
  if ("backend" in found) return found;
  throw new InferyardError("BACKEND_UNAVAILABLE", `${asked}: ${found.reason}`);
}
