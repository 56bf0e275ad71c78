/** A loaded model: its stages for the shapes that were seen, over one memory. */
import { InferyardError, throwIfAborted } from "../../errors.ts";
import { elementCount, type Tensor, type TensorInfo, type TensorMap, zeros } from "../../tensor.ts";
import { TraceBudget } from "../build/trace-budget.ts";
import { byteSize, type Graph, type NamedValue, typeOf, type Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import { Builder } from "../build/builder.ts";
import type { GraphSource } from "../build/graph-source.ts";
import { DataDependencyError } from "../build/data-dependency-error.ts";
import { isTensor, type TracedValue } from "../build/traced-value.ts";
import { DecodeSession, type DecodeSettings } from "./decode/decode-session.ts";
import { Decoder } from "./decode/decoder.ts";
import { YieldPolicy } from "./yield-policy.ts";
import type { SharedEngineState } from "./engine-replicas.ts";
import { type EngineSettings, Compiler } from "./compiler.ts";
import { SegmentCache } from "./segments/segment-cache.ts";
import { type RunLimits, ModelRun } from "./segments/model-run.ts";
import { SegmentTree } from "./segments/segment-tree.ts";
import { Mutex } from "./mutex.ts";

/** What free axes but the first are taken for at load. */
const preparedSizes: readonly number[] = [1, 16, 128];

export interface EngineRunOptions {
  readonly outputs?: readonly string[];
  readonly signal?: AbortSignal;
}

export class EngineModel {
  readonly #source: GraphSource;
  readonly #compiler: Compiler;
  readonly #limits: RunLimits;
  readonly #segmentCache: SegmentCache;
  readonly #segments: SegmentTree;
  readonly #mutex = new Mutex();
  #decoder: Decoder | undefined;
  #lastRun: ModelRun | undefined;
  #runCount = 0;

  constructor(source: GraphSource, settings: EngineSettings) {
    this.#source = source;
    const { trace, ...limits }: RunLimits = settings.limits ?? { trace: {} };
    const weightElements = source.weightElements ?? source.weights.reduce((sum, { shape }) => sum + elementCount(shape), 0);
    this.#limits = { ...limits, trace: { ...trace, weightElements } };
    this.#segmentCache = new SegmentCache(new TraceBudget(this.#limits.trace).allowedBytes);
    this.#compiler = new Compiler(source.weights, settings);
    this.#segments = new SegmentTree(source, { compiler: this.#compiler, cache: this.#segmentCache }, true);
  }

  /** Whether copies may share what it only reads. */
  get isSharing(): boolean {
    return this.#compiler.isSharing;
  }

  /** Whether it reads weights that another copy has packed. */
  get readsSharedWeights(): boolean {
    return this.#compiler.readsSharedWeights;
  }

  /** Bytes of the arena that the largest of its programs computes in. */
  get arenaBytes(): number {
    return this.#segmentCache.arenaBytes;
  }

  /** What a copy of this model may be given; undefined as long as no weights are packed, or where copies were not spoken of. */
  exportState(): SharedEngineState | undefined {
    return this.#compiler.exportState();
  }

  /** Weights that no kernel reads go to where copies find them. */
  publishWeights(): void {
    if (this.#segmentCache.hasExecutables) this.#compiler.publishWeights(); // an interpreter would have to copy them from there for each run
  }

  /** What it takes: the engine's memory, weights that are kept as the file has them, and constants of programs. */
  get bytes(): number {
    const weights = this.#source.weights.reduce((sum, literal) => sum + residentBytes(literal), 0);
    return this.#compiler.memory.bytes + weights + this.#segmentCache.bytes;
  }

  /**
   * Packs the weights, compiles kernels and makes room before the first run: for the smallest inputs there are, and for those of a short and a long text, since
   * what is made a second and third time is made faster. What cannot be made of those waits for a run, and so does what depends on values.
   */
  prepare(inputs: readonly TensorInfo[]): void {
    let fewestSteps = Number.POSITIVE_INFINITY;
    const isFree = inputs.some(({ shape }) => shape.some((each, axis) => typeof each === "string" && axis > 0));
    const sizes = isFree ? preparedSizes : preparedSizes.slice(0, 1); // the others would be the same
    const budget = new TraceBudget(this.#limits.trace); // of time: for all of them
    for (const size of sizes) {
      const some = inputs.map(({ name, dataType, shape }): [string, TracedValue] => [
        name,
        constantValue(
          zeros(
            dataType,
            shape.map((each, axis) => (typeof each === "number" ? each : axis === 0 ? 1 : size)),
          ),
        ),
      ]);
      try {
        const run = this.#newRun(new YieldPolicy(undefined));
        const stage = this.#segments.prepare(new Map(some), run);
        run.countSegment(stage);
        this.#lastRun = run;
        this.#compiler.memory.reserveArena(stage.arenaBytes);
        if (stage.traced.terminator.kind !== "end") return;
        this.#compiler.closeFoldingCache();
        if (stage.steps.all > 2 * fewestSteps) return; // a loop is unrolled: longer ones wait until they are wanted
        fewestSteps = Math.min(fewestSteps, stage.steps.all);
      } catch (error) {
        if (!(error instanceof InferyardError) || (size === preparedSizes[0] && isSizeRefusal(error))) throw error;
      }
      if (budget.isExpired) return; // what takes so long waits until it is wanted
    }
  }

  /** Runs that overlap are computed one after the other. Inputs are checked by the caller. */
  async run(inputs: TensorMap, { outputs, signal }: EngineRunOptions = {}): Promise<TensorMap> {
    const wanted = outputs === undefined ? undefined : new Set(outputs);
    return await this.#mutex.runExclusive(async () => {
      throwIfAborted(signal);
      const run = this.#newRun(new YieldPolicy(signal));
      const given = new Map(Object.entries(inputs).map(([name, tensor]): [string, TracedValue] => [name, constantValue(tensor)]));
      const results = await this.#segments.run(given, wanted, run);
      this.#compiler.closeFoldingCache();
      this.#lastRun = run;
      return Object.fromEntries([...results].map(([name, value]) => [name, outputTensor(name, value, run)]));
    });
  }

  #newRun(pace: YieldPolicy): ModelRun {
    this.#runCount += 1;
    return new ModelRun(this.#runCount, pace, this.#limits);
  }

  /**
   * Starts a text that is decoded token by token, of a model that takes keys and values of the past; `inputs` are its declared ones.
   * MODEL_UNSUPPORTED where it takes them otherwise than `DecoderInputs` says, or counts them.
   */
  async decode(inputs: readonly TensorInfo[], settings: DecodeSettings = {}): Promise<DecodeSession> {
    return await this.#mutex.runExclusive(async () => {
      throwIfAborted(settings.signal);
      const decoder = (this.#decoder ??= this.#newDecoder(inputs));
      return await DecodeSession.start(decoder, this.#mutex, settings);
    });
  }

  #newDecoder(inputs: readonly TensorInfo[]): Decoder {
    const maker = this.#compiler;
    return new Decoder(inputs, {
      memory: maker.memory,
      trace: (values) => {
        try {
          return this.#trace(values);
        } catch (error) {
          if (!(error instanceof DataDependencyError)) throw error;
          const reason = `the model cannot be decoded with a cache: its shapes depend on values (${error.message})`;
          throw new InferyardError("MODEL_UNSUPPORTED", reason, { cause: error });
        }
      },
      compile: (graph, states) => {
        const program = maker.compile(graph, { states, budget: new TraceBudget(this.#limits.trace) });
        maker.closeFoldingCache();
        return program;
      },
      run: async (program, given, { outputs, state, signal }) =>
        await maker.execute(program, given, new Set(outputs), { state, pace: new YieldPolicy(signal) }),
    });
  }

  /** What the model computes of inputs of these types. ValueUnknown where that depends on their values. */
  #trace(values: ReadonlyMap<string, Value>): Graph {
    const build = new Builder(this.#limits.trace, "graph", this.#compiler.fold);
    const results = this.#source.trace(values, build);
    const free = [...values].filter(([, { constant }]) => constant === undefined);
    const named = free.map(([name, value]): NamedValue => ({ name, value }));
    return build.graph(
      named,
      [...results].map(([name, value]) => ({ name, value: asTensorValue(name, value) })),
    );
  }

  /** Lets the memory go, after the runs that wait. No run may follow. */
  async dispose(): Promise<void> {
    await this.#mutex.runExclusive(async () => {
      this.#segmentCache.clear();
      this.#decoder?.dispose();
      await this.#compiler.dispose();
    });
  }

  /** Of the run that was last: its programs, their steps, and how many of those the interpreter computes. */
  get lastStepCounts(): ModelRun["steps"] | undefined {
    return this.#lastRun?.steps;
  }

  /** How the last run was computed, for evidence. */
  describe(): string {
    const { all = 0, interpreted = 0, programs = 0 } = this.lastStepCounts ?? {};
    if (all === 0) return "no program yet";
    const what = programs === 1 ? "program" : `${programs} programs`;
    return `${what} of ${all} steps: ${all - interpreted} generated kernels, ${interpreted} interpreted`;
  }
}

/** Larger inputs would be refused as well. */
function isSizeRefusal({ code, data }: InferyardError): boolean {
  return code === "OUT_OF_MEMORY" || code === "LIMIT_EXCEEDED" || data["limit"] !== undefined;
}

function constantValue(literal: Literal): Value {
  return { type: typeOf(literal), constant: literal };
}

function asTensorValue(name: string, value: TracedValue): Value {
  if (isTensor(value)) return value;
  throw new InferyardError("MODEL_UNSUPPORTED", `its output "${name}" is no tensor`);
}

/** The caller may write to it: where the elements are somebody else's too, he is given others. */
function outputTensor(name: string, value: TracedValue, { ownedArrays }: ModelRun): Tensor {
  const literal = asTensorValue(name, value).constant;
  if (literal === undefined) throw new InferyardError("MODEL_UNSUPPORTED", `its output "${name}" is not known`);
  const { dataType, shape, data } = literal;
  return { dataType, shape, data: ownedArrays.delete(data) ? data : (data as Uint8Array).slice() } as Tensor;
}

function residentBytes(literal: Literal): number {
  return literal.storage === undefined ? byteSize(literal) : literal.storage.residentBytes;
}
