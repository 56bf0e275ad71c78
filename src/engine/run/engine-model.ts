/** A loaded model: programs for the shapes that were seen, over one memory. */
import { InferyardError, throwIfAborted } from "../../errors.ts";
import { withOptimizingCompiler } from "../host-features.ts";
import { nextTurn } from "../../next-turn.ts";
import { type Tensor, type TensorInfo, type TensorMap, zeros } from "../../tensor.ts";
import { compileKernels, instantiateKernels, type Kernel, type WasmFeatures, type WasmModule } from "../emit/wasm/index.ts";
import { byteSize, type Graph, type NamedValue, type Value } from "../graph/graph.ts";
import type { Literal } from "../graph/literal.ts";
import { fuseElements } from "../passes/fuse-elements.ts";
import { optimize } from "../passes/index.ts";
import { asTheyAre, planGraph } from "../plan/plan.ts";
import { KernelThreads, type ThreadPeer } from "../threads/kernel-threads.ts";
import { Builder, defaultLimits, ValueUnknown } from "../trace/builder.ts";
import { FoldMemo, type KnownFolds } from "../trace/fold-memo.ts";
import type { GraphSource } from "../trace/graph-source.ts";
import { isTensor, type Traced } from "../trace/traced.ts";
import { DecodeSession, type DecodeSettings } from "./decode/decode-session.ts";
import { Decoder } from "./decode/decoder.ts";
import { EngineMemory, type PackedPlace, type SharedMemory } from "./engine-memory.ts";
import { Program } from "./program.ts";
import type { Members } from "./regions.ts";
import { Turns } from "./turns.ts";

/** Programs that are kept; the one that was not used for longest goes first. */
const mostPrograms = 32;
/** What free axes but the first are taken for at load. */
const preparedSizes: readonly number[] = [1, 16, 128];
/** A run that may be aborted lets others have their turn so often. */
const turnMs = 20;

export interface EngineSettings {
  readonly features: WasmFeatures;
  /** false: the graph runs as the model's file spells it out. */
  readonly optimize: boolean;
  /** Threads that compute, the calling one among them. Default: 1. */
  readonly threads?: number;
  /** Starts one of the others. Default: there are no others. */
  spawn?(): ThreadPeer;
  /** Copies that may share what they only read. Default: it shares nothing. */
  readonly copies?: EngineCopies;
}

/** The copies of a model on the threads of this process. */
export interface EngineCopies {
  readonly members: Members;
  /** Which of the members this one is; the first one counts what all share as its own. */
  readonly index: number;
  /** What another copy of the very same model gave, with the same settings but threads. Default: there is none, or it cannot be reached. */
  readonly from?: EngineShare;
}

/** What a copy needs of another one, to hold no weights of its own. Survives being posted to another thread. */
export interface EngineShare extends SharedMemory {
  /** Types and shapes of the model's own tensors: those of a copy must be the same. */
  readonly weights: readonly string[];
  readonly folds: KnownFolds;
  /** Where packed weights lie, by the numbers of their tensors. All of them are whole. */
  readonly places: ReadonlyMap<number, readonly PackedPlace[]>;
  readonly modules: readonly { readonly module: WasmModule; readonly keys: readonly string[] }[];
}

export interface EngineRunOptions {
  readonly outputs?: readonly string[];
  readonly signal?: AbortSignal;
}

export class EngineModel {
  readonly #source: GraphSource;
  readonly #features: WasmFeatures;
  readonly #optimize: boolean;
  /** Whether copies may share what it only reads. */
  readonly isSharing: boolean;
  /** Whether it reads weights that another copy has packed. */
  readonly readsOthers: boolean;
  /** What another copy has folded. */
  readonly #known: KnownFolds | undefined;
  #memory: EngineMemory;
  readonly #threads: KernelThreads;
  readonly #modules: EngineShare["modules"][number][] = [];
  readonly #kernels = new Set<string>();
  readonly #emittable = new Map<string, boolean>();
  readonly #programs = new Map<string, Program | "interpreted">();
  readonly #most: number;
  #folds: FoldMemo;
  readonly #turns = new Turns();
  #decoder: Decoder | undefined;

  constructor(source: GraphSource, settings: EngineSettings) {
    this.#source = source;
    this.#features = settings.features;
    this.#optimize = settings.optimize;
    const { threads = 1, spawn, copies } = settings;
    this.isSharing = copies !== undefined;
    this.readsOthers = copies?.from !== undefined;
    const most = spawn === undefined ? 1 : threads;
    const from = copies?.from;
    if (from !== undefined && from.weights.join() !== describedWeights(source).join())
      throw new InferyardError("CONTRACT_VIOLATION", "the copy that shares its weights is one of another model");
    const places = from?.places;
    this.#known = from?.folds;
    this.#folds = new FoldMemo(source.weights, this.#known);
    this.#memory = new EngineMemory({
      shared: most > 1 || (copies !== undefined && !(copies.members.buffer instanceof ArrayBuffer)),
      ...(copies === undefined ? {} : { copies }),
      ...(from === undefined ? {} : { from }),
      packed: (literal, layout) => places?.get(this.#folds.numberOf(literal) ?? -1)?.find((place) => place.layout === layout),
    });
    const refuse = (): never => {
      throw new InferyardError("CONTRACT_VIOLATION", "there is nothing to start threads with");
    };
    this.#threads = new KernelThreads({ threads: most, memory: this.#memory.memory, spawn: spawn ?? refuse });
    this.#most = most;
    for (const { module, keys } of from?.modules ?? []) this.#know(module, keys);
  }

  /** Bytes of the arena that the largest of its programs computes in. */
  get arenaBytes(): number {
    return Math.max(0, ...[...this.#programs.values()].map((each) => (each instanceof Program ? each.arenaBytes : 0)));
  }

  /** What a copy of this model may be given; undefined as long as no weights are packed, or where copies were not spoken of. */
  share(): EngineShare | undefined {
    if (!this.isSharing) return undefined;
    const places = [...this.#folds.numbered].map(([number, literal]) => [number, this.#memory.placesOf(literal)] as const);
    const packed = new Map(places.filter(([, found]) => found.length > 0));
    if (packed.size === 0) return undefined;
    return {
      ...this.#memory.share(),
      weights: describedWeights(this.#source),
      folds: this.#folds.known,
      places: packed,
      modules: this.#modules,
    };
  }

  /** Weights that no kernel reads, and which are held because other programs may want them, go to where copies find them. */
  settle(): void {
    const isComputed = [...this.#programs.values()].some((program) => program instanceof Program);
    if (!this.isSharing || !isComputed) return; // an interpreter would have to copy them from there for each run
    for (const literal of this.#source.weights) if (literal.held?.isHere === true) this.#memory.place(asTheyAre(literal), true);
  }

  /** What it takes: the engine's memory, weights that are kept as the file has them, and constants of programs. */
  get bytes(): number {
    const weights = this.#source.weights.reduce((sum, literal) => sum + keptBytes(literal), 0);
    const programs = [...this.#programs.values()].reduce((sum, each) => sum + (each instanceof Program ? each.bytes : 0), 0);
    return this.#memory.bytes + weights + programs;
  }

  /**
   * Packs the weights and compiles kernels before the first run: for the smallest inputs there are, and for those of a short and a long text, since
   * what is made a second and third time is made faster. What cannot be made of those waits for a run.
   */
  prepare(inputs: readonly TensorInfo[]): void {
    let fewestSteps = Number.POSITIVE_INFINITY;
    for (const size of preparedSizes) {
      const some = inputs.map(({ name, dataType, shape }): [string, Tensor] => [
        name,
        zeros(
          dataType,
          shape.map((each, axis) => (typeof each === "number" ? each : axis === 0 ? 1 : size)),
        ),
      ]);
      try {
        const program = this.#programFor(Object.fromEntries(some));
        if (program === "interpreted" || program.steps.all > 2 * fewestSteps) return; // a loop is unrolled: longer ones wait until they are wanted
        fewestSteps = Math.min(fewestSteps, program.steps.all);
      } catch (error) {
        const isTooLarge = error instanceof InferyardError && error.code === "OUT_OF_MEMORY" && size === preparedSizes[0];
        if (!(error instanceof InferyardError) || isTooLarge) throw error;
      }
    }
  }

  /** Runs that overlap are computed one after the other. Inputs are checked by the caller. */
  async run(inputs: TensorMap, { outputs, signal }: EngineRunOptions = {}): Promise<TensorMap> {
    const wanted = outputs === undefined ? undefined : new Set(outputs);
    return await this.#turns.take(async () => {
      throwIfAborted(signal);
      const program = this.#programFor(inputs);
      if (program === "interpreted") return this.#interpret(inputs, wanted, signal);
      return await this.#compute(program, inputs, wanted, { signal });
    });
  }

  /**
   * Starts a text that is decoded token by token, of a model that takes keys and values of the past; `inputs` are its declared ones.
   * MODEL_UNSUPPORTED where it takes them otherwise than `DecoderInputs` says, or counts them.
   */
  async decode(inputs: readonly TensorInfo[], settings: DecodeSettings = {}): Promise<DecodeSession> {
    return await this.#turns.take(async () => {
      throwIfAborted(settings.signal);
      const decoder = (this.#decoder ??= this.#newDecoder(inputs));
      return await DecodeSession.start(decoder, this.#turns, settings);
    });
  }

  #newDecoder(inputs: readonly TensorInfo[]): Decoder {
    return new Decoder(inputs, {
      memory: this.#memory,
      trace: (values) => {
        try {
          return this.#trace(values);
        } catch (error) {
          if (!(error instanceof ValueUnknown)) throw error;
          const reason = `the model cannot be decoded with a cache: its shapes depend on values (${error.message})`;
          throw new InferyardError("MODEL_UNSUPPORTED", reason, { cause: error });
        }
      },
      program: (graph, states) => this.#program(graph, states),
      run: async (program, given, { outputs, state, signal }) =>
        await this.#compute(program, given, new Set(outputs), { state, signal }),
    });
  }

  async #compute(
    program: Program,
    inputs: TensorMap,
    wanted: ReadonlySet<string> | undefined,
    { state, signal }: { readonly state?: number; readonly signal: AbortSignal | undefined },
  ): Promise<TensorMap> {
    program.begin(inputs, state);
    const { all } = program.steps;
    for (let step = 0; step < all;) {
      step = program.advance(step, signal === undefined ? Number.POSITIVE_INFINITY : performance.now() + turnMs);
      if (step >= all) break;
      await nextTurn();
      throwIfAborted(signal);
    }
    return program.end(wanted);
  }

  /** Lets the memory go, after the runs that wait. No run may follow. */
  async dispose(): Promise<void> {
    await this.#turns.take(async () => {
      this.#programs.clear();
      this.#decoder?.dispose();
      await this.#threads.end();
      this.#memory.leave();
      this.#memory = new EngineMemory({ shared: false });
    });
  }

  /** Steps of the program that ran last, and how many of them the interpreter computes; "interpreted" where it computes all. */
  get lastSteps(): Program["steps"] | "interpreted" | undefined {
    const last = [...this.#programs.values()].at(-1);
    return last instanceof Program ? last.steps : last;
  }

  /** How the last run was computed, for evidence. */
  describe(): string {
    const steps = this.lastSteps;
    if (steps === undefined) return "no program yet";
    if (steps === "interpreted") return "interpreted: its shapes depend on values";
    const { all, interpreted } = steps;
    return `program of ${all} steps: ${all - interpreted} generated kernels, ${interpreted} interpreted`;
  }

  /** The program for these shapes, made when they are first seen. */
  #programFor(inputs: TensorMap): Program | "interpreted" {
    const key = JSON.stringify(Object.entries(inputs).map(([name, { shape }]) => [name, shape]));
    const known = this.#programs.get(key);
    const program = known ?? this.#compile(inputs);
    this.#programs.delete(key);
    this.#programs.set(key, program); // the newest stands last
    const [oldest] = this.#programs.keys();
    if (this.#programs.size > mostPrograms && oldest !== undefined) this.#drop(oldest);
    return program;
  }

  #drop(key: string): void {
    const program = this.#programs.get(key);
    if (program instanceof Program) program.dispose();
    this.#programs.delete(key);
  }

  #compile(inputs: TensorMap): Program | "interpreted" {
    try {
      const program = this.#made(inputs);
      this.#folds.close();
      return program;
    } catch (error) {
      if (this.#folds.isOpen) this.#folds = new FoldMemo(this.#source.weights, this.#known);
      throw error;
    }
  }

  #made(inputs: TensorMap): Program | "interpreted" {
    const values = new Map<string, Value>(
      Object.entries(inputs).map(([name, { dataType, shape }]): [string, Value] => [name, { type: { dataType, shape } }]),
    );
    try {
      if ([...values.values()].some(({ type }) => type.dataType === "string")) return "interpreted";
      const graph = this.#trace(values);
      if (graph.nodes.some(({ outputs }) => outputs.some(({ type }) => type.dataType === "string"))) return "interpreted";
      return this.#program(graph);
    } catch (error) {
      if (error instanceof ValueUnknown) return "interpreted";
      throw error;
    }
  }

  /** What the model computes of inputs of these types. ValueUnknown where that depends on their values. */
  #trace(values: ReadonlyMap<string, Value>): Graph {
    const build = new Builder({}, "program", this.#folds.fold);
    const results = this.#source.trace(values, build);
    const named = [...values].map(([name, value]): NamedValue => ({ name, value }));
    return build.graph(named, [...results].map(tensorOutput));
  }

  #program(traced: Graph, states: readonly string[] = []): Program {
    const graph = this.#optimize ? optimize(traced, this.#folds.fold) : fuseElements(traced);
    const plan = planGraph(graph, {
      isDurable: (literal) => this.#folds.isDurable(literal),
      hasByteDot: this.#features.byteDot !== "none",
      threads: this.#most,
      emittable: this.#emittable,
      states,
    });
    this.#add(plan.kernels);
    const program = new Program(plan, this.#memory, (kernel, offsets, stride) => this.#threads.run(kernel, offsets, stride));
    this.#folds.close();
    return program;
  }

  /** Compiles those kernels that no program had before. */
  #add(kernels: readonly Kernel[]): void {
    const added = kernels.filter(({ key }) => !this.#kernels.has(key));
    if (added.length === 0) return;
    const { memory } = this.#memory;
    const compiled = withOptimizingCompiler(() => compileKernels(added, memory, this.#features));
    this.#threads.add(compiled);
    const keys = [...compiled.functions.keys()];
    for (const key of keys) this.#kernels.add(key);
    this.#modules.push({ module: compiled.module, keys });
  }

  /** Kernels that another copy has compiled. */
  #know(module: WasmModule, keys: readonly string[]): void {
    this.#threads.add({ module, functions: instantiateKernels(module, this.#memory.memory) });
    for (const key of keys) this.#kernels.add(key);
    this.#modules.push({ module, keys });
  }

  #interpret(inputs: TensorMap, wanted: ReadonlySet<string> | undefined, signal: AbortSignal | undefined): TensorMap {
    const build = new Builder({ ...defaultLimits, ...(signal === undefined ? {} : { signal }) }, "run");
    const given = new Map<string, Traced>(Object.entries(inputs).map(([name, tensor]) => [name, build.constant(tensor)]));
    const results: Record<string, Tensor> = {};
    for (const [name, value] of this.#source.trace(given, build)) {
      if (wanted === undefined || wanted.has(name)) results[name] = tensorOf(name, value);
    }
    return results;
  }
}

function tensorOutput([name, value]: readonly [string, Traced]): NamedValue {
  if (isTensor(value)) return { name, value };
  throw new InferyardError("MODEL_UNSUPPORTED", `its output "${name}" is no tensor`);
}

function tensorOf(name: string, value: Traced): Tensor {
  const literal: Literal | undefined = tensorOutput([name, value]).value.constant;
  if (literal === undefined) throw new InferyardError("MODEL_UNSUPPORTED", `its output "${name}" is not known`);
  return literal as Tensor;
}

function keptBytes(literal: Literal): number {
  return literal.held === undefined ? byteSize(literal) : literal.held.bytes;
}

function describedWeights({ weights }: GraphSource): string[] {
  return weights.map(({ dataType, shape }) => `${dataType}[${shape.join("x")}]`);
}
