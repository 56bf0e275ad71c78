/** Compiles programs: tries the backends that the caller names, in order, until one computes right. */
import { required } from "../../contract/checked.ts";
import { InferyardError, invalidInput, throwIfAborted } from "../../contract/errors.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import { standardProgramBackends } from "../backends/standard-program-backends.ts";
import type { ProgramBackends } from "../backends/program-backends.ts";
import { checkSizes } from "../definition/check-program.ts";
import { freeDimensions, type Program } from "../definition/program.ts";
import type { ProgramMode } from "../interface/program-backend.ts";
import { type TensorArgument, toTensors } from "../definition/tensor-arguments.ts";
import { type RankOptions, readRanks } from "../ranks/rank-options.ts";
import { checkBuckets, type DimensionBuckets } from "./buckets.ts";
import { CandidateList, type ProgramRequest } from "./candidate-list.ts";
import { ProgramKernel } from "./program-kernel.ts";
import { ReferenceAnswers } from "./reference-answers.ts";

/** Options of `compileProgram`. */
export interface CompileOptions extends RankOptions {
  /** The backend, with a level or a device after a colon if it has several: "native", "native:wasm", "xla:cpu", "cuda". Default: "native". */
  readonly backend?: string;
  /** Backends that are tried in this order if the first is not available, does not compile the program, or computes it wrong. Default: none. */
  readonly fallbackBackends?: readonly string[];
  /** Default: "latency". */
  readonly mode?: ProgramMode;
  /** The weights by name. They are not copied, and must not change while the program is in use. Default: none. */
  readonly weights?: Readonly<Record<string, TensorArgument>>;
  /** Sizes that free dimensions are padded to. The results for padded inputs are checked like others. Default: a graph is compiled for each size. */
  readonly buckets?: DimensionBuckets;
  /** Sizes of free dimensions that a graph is compiled for at once. Default: the first bucket, or what the program was checked with when it was defined. */
  readonly sizes?: Readonly<Record<string, number>>;
  /** Inputs to check with, by name, for programs that random ones do not suit. Default: pseudo-random numbers. */
  readonly probe?: Readonly<Record<string, TensorArgument>>;
  /** Bytes that the program may take on its device. Default: what the device has. */
  readonly maxMemory?: number;
  /** Threads that compute. Default: all processors in the mode "latency", 1 in the mode "throughput". */
  readonly threads?: number;
  /** Backends to choose from. Default: those of this package. */
  readonly backends?: ProgramBackends;
  /** Aborts the compilation between its steps. */
  readonly signal?: AbortSignal;
}

const optionNames: readonly string[] = [
  "backend",
  "fallbackBackends",
  "mode",
  "weights",
  "buckets",
  "sizes",
  "probe",
  "maxMemory",
  "threads",
  "backends",
  "signal",
  "worldSize",
  "rank",
  "parallelism",
  "batch",
];

/**
 * Compiles a program for the first of the named backends that is available, compiles it, and computes a probe as the interpreter does. Throws INPUT_INVALID for options
 * and weights that do not fit, CONFIG_INVALID and NOT_BUILT for ranks that the environment states wrong or on other machines, BACKEND_UNAVAILABLE or NO_BACKEND if no backend runs the program, with the reason of each, and ABORTED.
 */
export async function compileProgram(program: Program, options: CompileOptions = {}): Promise<ProgramKernel> {
  return await compileWithNotes(program, options, []);
}

/** As `compileProgram`; `notes`: sentences for the decision. */
export async function compileWithNotes(
  program: Program,
  options: CompileOptions,
  notes: readonly string[],
): Promise<ProgramKernel> {
  checkOptions(options);
  const { backend = "native", fallbackBackends = [], mode = "latency", buckets = {}, signal } = options;
  throwIfAborted(signal);
  const asked = [backend, ...fallbackBackends];
  const weights = readProgramWeights(program, options.weights ?? {});
  checkBuckets(program, buckets);
  const backends = options.backends ?? standardProgramBackends();
  const ranks = readRanks(program, options, mode, process.env);
  if (ranks?.startsRanks === true && !backends.isStandard)
    throw invalidInput(
      "ranks that this process starts have the backends of the package alone, and others are given",
      "leave out `backends`, or start each rank with the program itself, with RANK and WORLD_SIZE in its environment",
    );
  const request: ProgramRequest = {
    ranks,
    mode,
    asked,
    notes,
    backends,
    session: {
      program,
      weights,
      buckets,
      mode,
      threads: options.threads,
      maxMemory: options.maxMemory,
      answers: new ReferenceAnswers(program, weights, readProbe(program, options.probe ?? {})),
    },
  };
  const candidates = new CandidateList(request);
  const { session, decision } = await candidates.select(readFirstSizes(program, options), signal);
  return new ProgramKernel(request, candidates, session, decision);
}

function checkOptions(options: CompileOptions): void {
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown !== undefined)
    throw invalidInput(`"${unknown}" is no option of compileProgram`, `it has ${optionNames.join(", ")}`);
  const { backend, fallbackBackends, mode, threads, maxMemory } = options;
  if (backend !== undefined && typeof backend !== "string")
    throw invalidInput(`backend is ${JSON.stringify(backend)}, and must be a name`);
  if (
    fallbackBackends !== undefined &&
    !(Array.isArray(fallbackBackends) && fallbackBackends.every((each) => typeof each === "string"))
  )
    throw invalidInput("fallbackBackends must be a list of names");
  if (mode !== undefined && mode !== "latency" && mode !== "throughput")
    throw invalidInput(`mode is ${JSON.stringify(mode)}, and must be "latency" or "throughput"`);
  if (threads !== undefined && !(Number.isSafeInteger(threads) && threads > 0))
    throw invalidInput(`threads is ${threads}, and must be a whole number above 0`);
  if (maxMemory !== undefined && !(typeof maxMemory === "number" && maxMemory >= 0))
    throw invalidInput(`maxMemory is ${maxMemory}, and must be a number of bytes`);
}

/** The weights by name. Throws INPUT_INVALID for weights that are missing, unknown or of another type. */
export function readProgramWeights(
  { weights }: Program,
  given: Readonly<Record<string, TensorArgument>>,
): ReadonlyMap<string, Literal> {
  try {
    return new Map(Object.entries(toTensors(weights, given)));
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    throw new InferyardError("INPUT_INVALID", `weights: ${error.message}`, { cause: error });
  }
}

function readProbe({ inputs }: Program, given: Readonly<Record<string, TensorArgument>>): TensorMap {
  const named = inputs.filter(({ name }) => Object.hasOwn(given, name));
  const unknown = Object.keys(given).find((name) => !inputs.some((input) => input.name === name));
  if (unknown !== undefined) throw invalidInput(`probe: the program has no input "${unknown}"`);
  return toTensors(named, given);
}

function readFirstSizes(program: Program, { sizes = {}, buckets = {}, probe = {} }: CompileOptions): ReadonlyMap<string, number> {
  const names = freeDimensions(program);
  checkSizes(names, sizes);
  const probed = readProbe(program, probe);
  const ofProbe = (name: string): number | undefined => {
    for (const { name: input, shape } of program.inputs) {
      const size = probed[input]?.shape[shape.indexOf(name)];
      if (shape.includes(name) && size !== undefined) return size;
    }
    return undefined;
  };
  return new Map(
    names.map((name) => [
      name,
      sizes[name] ?? ofProbe(name) ?? buckets[name]?.[0] ?? required(program.exampleSizes.get(name), name),
    ]),
  );
}
