/** A loaded model whose graph segments are compiled for the shapes seen so far. */
import type { KernelCount, ProgramCounts } from "../../contract/backend.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { elementCount, type Tensor, type TensorInfo, type TensorMap, zeros } from "../../contract/tensor.ts";
import { TraceBudget } from "../build/trace-budget.ts";
import { type Graph, type NamedValue, getType, type Value } from "../ir/graph.ts";
import { byteSize } from "../ir/tensor-type.ts";
import type { Literal } from "../ir/literal.ts";
import { Builder } from "../build/builder.ts";
import type { GraphSource } from "../build/graph-source.ts";
import { DataDependencyError } from "../build/data-dependency-error.ts";
import { isTensor, type TracedValue } from "../build/traced-value.ts";
import { Decoder } from "./decode/decoder.ts";
import type { CacheType } from "./decode/decoder-inputs.ts";
import { Sequences } from "./decode/sequences.ts";
import { YieldPolicy } from "./yield-policy.ts";
import type { GraphCompiler } from "./graph-compiler.ts";
import { SegmentCache } from "./segments/segment-cache.ts";
import { type RunLimits, ModelRun } from "./segments/model-run.ts";
import type { Segment } from "./segments/segment.ts";
import { SegmentTree } from "./segments/segment-tree.ts";
import { Mutex } from "../../concurrency/mutex.ts";

/** Sizes of free axes, except the first one, for which executables are compiled when a model is loaded. */
const preparedSizes: readonly number[] = [8];
/** Sizes of the free axes of images, tried in this order until one fits the model: most models refuse images that their poolings make smaller than 1 x 1. */
const preparedImageSizes: readonly number[] = [64, 1];

/** Options of one run. */
export interface EngineRunOptions {
  /** Names of the outputs to compute. Default: all. */
  readonly outputs?: readonly string[];
  /** Aborts the run between steps. Default: it cannot be aborted, and does not yield to the event loop. */
  readonly signal?: AbortSignal;
}

/** A loaded model over a compiler of its graphs. Methods may be called concurrently; runs are computed one after the other. */
export class CompiledModel {
  readonly #source: GraphSource;
  readonly #compiler: GraphCompiler;
  readonly #limits: RunLimits;
  readonly #segmentCache: SegmentCache;
  readonly #segments: SegmentTree;
  readonly #mutex = new Mutex();
  #decoder: Decoder | undefined;
  #lastSteps: ModelRun["steps"] | undefined;
  #runCount = 0;

  /** `limits`: limits of traces and runs. Default: `defaultTraceLimits`, and no limit on the bytes of a run except the size of the memory. */
  constructor(source: GraphSource, compiler: GraphCompiler, { trace, ...limits }: RunLimits = { trace: {} }) {
    this.#source = source;
    const weightElements = source.weightElements ?? source.weights.reduce((sum, { shape }) => sum + elementCount(shape), 0);
    this.#limits = { ...limits, trace: { ...trace, weightElements } };
    this.#segmentCache = new SegmentCache(new TraceBudget(this.#limits.trace).allowedBytes);
    this.#compiler = compiler;
    this.#segments = new SegmentTree(source, { compiler, cache: this.#segmentCache }, true);
  }

  /** Size in bytes of the largest arena of all executables of the model. */
  get arenaBytes(): number {
    return this.#segmentCache.arenaBytes;
  }

  /** The segments that runs begin with. */
  protected get firstSegments(): readonly Segment[] {
    return this.#segments.firstSegments;
  }

  /** Whether a graph of the model is compiled. */
  get hasExecutables(): boolean {
    return this.#segmentCache.hasExecutables;
  }

  /** Bytes of memory that the model occupies: engine memory, weights kept in their file format, and constants of executables. */
  get bytes(): number {
    const weights = this.#source.weights.reduce((sum, literal) => sum + residentBytes(literal), 0);
    return this.#compiler.bytes + weights + this.#segmentCache.bytes;
  }

  /**
   * Packs weights, compiles kernels and reserves memory before the first run, for the smallest inputs and for short and long sequences: kernels serve
   * many sizes, so later shapes compile faster. Shapes that fail here, and segments that depend on data, are compiled when a run needs them. Kernels of
   * convolutions serve one size each: for images, one size is prepared, and its kernels are compiled only if a run has that size.
   */
  prepare(inputs: readonly TensorInfo[]): void {
    let minSteps = Number.POSITIVE_INFINITY;
    const isImage = hasFreeImageSizes(inputs);
    const isFree = inputs.some(({ shape }) => shape.some((each, axis) => typeof each === "string" && axis > 0));
    const free = isImage ? preparedImageSizes : preparedSizes;
    const sizes = isFree ? free : preparedSizes.slice(0, 1); // with fixed axes all sizes give the same shapes
    const smallest = Math.min(...sizes);
    const budget = new TraceBudget(this.#limits.trace); // limits the time of all sizes together
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
        const segment = this.#compiler.withDeferredKernels(isImage, () => this.#segments.prepare(new Map(some), run));
        run.countSegment(segment);
        this.#lastSteps = run.steps;
        this.#compiler.reserveArena(segment.arenaBytes);
        if (segment.traced.terminator.kind !== "end") return;
        this.#compiler.closeFoldingCache();
        if (isImage) return;
        if (segment.steps.all > 2 * minSteps) return; // an unrolled loop: longer ones are compiled when they are needed
        minSteps = Math.min(minSteps, segment.steps.all);
      } catch (error) {
        if (!(error instanceof InferyardError) || (size === smallest && isSizeRefusal(error))) throw error;
      }
      if (budget.isExpired) return; // the remaining sizes are compiled when they are needed
    }
  }

  /** Compares results of the interpreter for this model's operations with known answers; runs do so too. Throws VERIFICATION_FAILED if they differ. */
  async checkInterpreter(): Promise<void> {
    await this.#compiler.checkInterpreter();
  }

  /** Runs the model. Concurrent runs are serialized. The caller has checked names, types and shapes of the inputs. */
  async run(inputs: TensorMap, { outputs, signal }: EngineRunOptions = {}): Promise<TensorMap> {
    const wanted = outputs === undefined ? undefined : new Set(outputs);
    return await this.#mutex.runExclusive(async () => {
      throwIfAborted(signal);
      const run = this.#newRun(new YieldPolicy(signal));
      const given = new Map(Object.entries(inputs).map(([name, tensor]): [string, TracedValue] => [name, constantValue(tensor)]));
      const results = await this.#segments.run(given, wanted, run);
      await this.#compiler.checkInterpreter();
      this.#compiler.closeFoldingCache();
      this.#lastSteps = run.steps;
      return Object.fromEntries([...results].map(([name, value]) => [name, outputTensor(name, value, run)]));
    });
  }

  #newRun(yieldPolicy: YieldPolicy): ModelRun {
    this.#runCount += 1;
    return new ModelRun(this.#runCount, yieldPolicy, this.#limits);
  }

  /**
   * Returns the sequences of a language model with key-value caches as inputs; `inputs` are its declared inputs, `maxTokens` is the maximum number of tokens of
   * a sequence, `cacheType` the element type of caches, `sourceTokens` the number of positions of each source if it is always the same. Called once. Throws MODEL_UNSUPPORTED if its inputs do not match `DecoderInputs`, or if it derives
   * positions from the length of the cache.
   */
  async sequences(
    inputs: readonly TensorInfo[],
    {
      maxTokens = Number.POSITIVE_INFINITY,
      cacheType = "float32",
      sourceTokens,
      signal,
    }: {
      readonly maxTokens?: number | undefined;
      readonly cacheType?: CacheType | undefined;
      readonly sourceTokens?: number | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<Sequences> {
    return await this.#mutex.runExclusive(async () => {
      throwIfAborted(signal);
      const decoder = (this.#decoder ??= this.#newDecoder(inputs, cacheType));
      return await Sequences.start(decoder, this.#mutex, { maxTokens, sourceTokens, signal });
    });
  }

  #newDecoder(inputs: readonly TensorInfo[], cacheType: CacheType): Decoder {
    const compiler = this.#compiler;
    return new Decoder(inputs, cacheType, {
      isBatchExact: compiler.isBatchExact,
      sizes: compiler.decoderSizes,
      createCache: (states, capacity) => compiler.createCache(states, capacity),
      releaseSource: (source) => compiler.releaseSource(source),
      trace: (values) => {
        try {
          return this.#trace(values);
        } catch (error) {
          if (!(error instanceof DataDependencyError)) throw error;
          const reason = `the model cannot be decoded with a cache: its shapes depend on values (${error.message})`;
          throw new InferyardError("MODEL_UNSUPPORTED", reason, { cause: error });
        }
      },
      compile: (graph, settings) => {
        const program = compiler.compileDecoder(graph, { ...settings, budget: new TraceBudget(this.#limits.trace) });
        compiler.closeFoldingCache();
        return {
          steps: program.steps,
          append: async (...run) => {
            this.#lastSteps = { ...program.steps, executables: 1 };
            const logits = await program.append(...run);
            await compiler.checkInterpreter();
            return logits;
          },
          dispose: () => program.dispose(),
        };
      },
    });
  }

  /** Traces the model with inputs of these types. Throws DataDependencyError where the graph depends on their values. */
  #trace(values: ReadonlyMap<string, Value>): Graph {
    const build = new Builder(this.#limits.trace, "decoding", this.#compiler.fold);
    const results = this.#source.trace(values, build);
    const free = [...values].filter(([, { constant }]) => constant === undefined);
    const named = free.map(([name, value]): NamedValue => ({ name, value }));
    return build.graph(
      named,
      [...results].map(([name, value]) => ({ name, value: asTensorValue(name, value) })),
    );
  }

  /** Waits for pending runs, then releases memory and threads. The model must not be used afterwards. */
  async dispose(): Promise<void> {
    await this.#mutex.runExclusive(async () => {
      this.#segmentCache.clear();
      this.#decoder?.dispose();
      await this.#compiler.dispose();
    });
  }

  /** Counts of the last run: executables that ran, all steps, and steps computed by the interpreter. undefined before the first run. */
  get lastStepCounts(): ModelRun["steps"] | undefined {
    return this.#lastSteps;
  }

  /** How often each kernel has run since the model was created; see `ModelBase.kernelCounts`. */
  get kernelCounts(): readonly KernelCount[] | undefined {
    return this.#compiler.kernelCounts;
  }

  /** See `ModelBase.programs`. */
  get programs(): ProgramCounts | undefined {
    return this.#compiler.programs;
  }

  /** Facts about the compiled code, as sentences without a full stop. */
  describeCode(): readonly string[] {
    return this.#compiler.describeCode();
  }

  /** Returns one sentence that describes how the last run was computed, for `LoadedModel.evidence`. */
  describe(): string {
    const counts = this.lastStepCounts;
    return counts === undefined || counts.all === 0 ? "no executable yet" : this.#compiler.describeRun(counts);
  }
}

/** Whether the free sizes of a model belong to images or other signals with channels: floats of three or more axes, and no free size elsewhere. */
function hasFreeImageSizes(inputs: readonly TensorInfo[]): boolean {
  const free = inputs.filter(({ shape }) => shape.some((each, axis) => typeof each === "string" && axis > 0));
  return free.length > 0 && free.every(({ dataType, shape }) => dataType.startsWith("float") && shape.length > 2);
}

/** Whether the error reports a limit that larger inputs would also exceed, so that larger sizes need not be prepared. */
function isSizeRefusal({ code, data }: InferyardError): boolean {
  return code === "OUT_OF_MEMORY" || code === "LIMIT_EXCEEDED" || data["limit"] !== undefined;
}

function constantValue(literal: Literal): Value {
  return { type: getType(literal), constant: literal };
}

function asTensorValue(name: string, value: TracedValue): Value {
  if (isTensor(value)) return value;
  throw new InferyardError("MODEL_UNSUPPORTED", `output "${name}" is not a tensor`);
}

/** Converts an output to a tensor that the caller owns. Copies the elements unless the run allocated them and nothing else refers to them. */
function outputTensor(name: string, value: TracedValue, { ownedArrays }: ModelRun): Tensor {
  const literal = asTensorValue(name, value).constant;
  if (literal === undefined) throw new InferyardError("MODEL_UNSUPPORTED", `output "${name}" has no elements`);
  const { dataType, shape, data } = literal;
  return { dataType, shape, data: ownedArrays.delete(data) ? data : (data as Uint8Array).slice() } as Tensor;
}

function residentBytes(literal: Literal): number {
  return literal.storage === undefined ? byteSize(literal) : literal.storage.residentBytes;
}
