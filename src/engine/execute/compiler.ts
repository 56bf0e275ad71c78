/** Makes programs of graphs and runs them, over one memory and with the same threads: what all programs of a loaded model share. */
import { InferyardError } from "../../errors.ts";
import type { TensorMap } from "../../tensor.ts";
import {
  type CompiledKernels,
  compileKernels,
  instantiateKernels,
  type Kernel,
  type WasmFeatures,
} from "../codegen/wasm/index.ts";
import type { Graph } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import { withOptimizingCompiler } from "../codegen/wasm/v8-flags.ts";
import type { Fold } from "../interpret/evaluate.ts";
import { fuseElements } from "../passes/fuse-elementwise.ts";
import { optimize } from "../passes/index.ts";
import { asTheyAre, planGraph } from "../plan/plan.ts";
import { KernelThreads, type ThreadPeer } from "../threads/thread-pool.ts";
import { FoldMemo, type KnownFolds } from "../build/constant-folding-cache.ts";
import type { Budget } from "../build/trace-budget.ts";
import { EngineMemory } from "../memory/engine-memory.ts";
import type { EngineCopies, EngineShare } from "./engine-replicas.ts";
import type { Pace } from "./yield-policy.ts";
import { Program } from "./executable.ts";
import type { RunLimits } from "./segments/model-run.ts";

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
  /** What a trace and a run may take. Default: `defaultLimits` for traces, and runs as large as the memory. */
  readonly limits?: RunLimits;
}

/** Ways through a model whose weights are folded for all programs. */
const mostWays = 8;

export class ProgramMaker {
  readonly #settings: EngineSettings;
  readonly #weights: readonly Literal[];
  readonly #threads: KernelThreads;
  readonly #most: number;
  readonly #kernels = new Set<string>();
  readonly #modules: EngineShare["modules"][number][] = [];
  readonly #emittable = new Map<string, boolean>();
  /** What another copy has folded. */
  readonly #known: KnownFolds | undefined;
  #memory: EngineMemory;
  #folds: FoldMemo;
  readonly #ways = new Set<string>();
  #isFirst = true;

  /** `weights`: the model's own tensors. */
  constructor(weights: readonly Literal[], settings: EngineSettings) {
    this.#settings = settings;
    this.#weights = weights;
    const { threads = 1, spawn, copies } = settings;
    const from = copies?.from;
    if (from !== undefined && from.weights.join() !== describedWeights(weights).join())
      throw new InferyardError("CONTRACT_VIOLATION", "the copy that shares its weights is one of another model");
    this.#known = from?.folds;
    this.#folds = new FoldMemo(weights, this.#known);
    this.#most = spawn === undefined ? 1 : threads;
    const places = from?.places;
    this.#memory = new EngineMemory({
      shared: this.#most > 1 || (copies !== undefined && !(copies.members.buffer instanceof ArrayBuffer)),
      ...(copies === undefined ? {} : { copies }),
      ...(from === undefined ? {} : { from }),
      packed: (literal, layout) => places?.get(this.#folds.numberOf(literal) ?? -1)?.find((place) => place.layout === layout),
    });
    const refuse = (): never => {
      throw new InferyardError("CONTRACT_VIOLATION", "there is nothing to start threads with");
    };
    this.#threads = new KernelThreads({ threads: this.#most, memory: this.#memory.memory, spawn: spawn ?? refuse });
    for (const { module, keys } of from?.modules ?? [])
      this.#know({ module, functions: instantiateKernels(module, this.#memory.memory) }, keys);
  }

  /** Whether copies may share what it only reads. */
  get isSharing(): boolean {
    return this.#settings.copies !== undefined;
  }

  /** Whether it reads weights that another copy has packed. */
  get readsOthers(): boolean {
    return this.#settings.copies?.from !== undefined;
  }

  /** What a copy may be given; undefined as long as no weights are packed, or where copies were not spoken of. */
  share(): EngineShare | undefined {
    if (!this.isSharing) return undefined;
    const places = [...this.#folds.numbered].map(([number, literal]) => [number, this.#memory.placesOf(literal)] as const);
    const packed = new Map(places.filter(([, found]) => found.length > 0));
    if (packed.size === 0) return undefined;
    const weights = describedWeights(this.#weights);
    return { ...this.#memory.share(), weights, folds: this.#folds.known, places: packed, modules: this.#modules };
  }

  /** Weights that no kernel reads, and which are held because other programs may want them, go to where copies find them. */
  settle(): void {
    if (!this.isSharing) return;
    for (const literal of this.#weights) if (literal.held?.isHere === true) this.#memory.place(asTheyAre(literal), true);
  }

  get memory(): EngineMemory {
    return this.#memory;
  }

  /** Computes what is known, once for all programs of the model. */
  get fold(): Fold {
    return this.#folds.fold;
  }

  /** What is made next goes this way through the model's branches. One that is new has weights of its own, which are folded for all its programs. */
  openFolds(way: string): void {
    if (this.#ways.has(way) || this.#ways.size >= mostWays) return;
    this.#ways.add(way);
    this.#folds.reopen();
  }

  /** What of the model's weights is folded later is no longer folded for all: see `FoldMemo`. */
  closeFolds(): void {
    this.#folds.close();
  }

  /** Tracing or making a program. Where the first one fails, nothing is remembered of what it folded. */
  attempt<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (this.#isFirst) this.#folds = new FoldMemo(this.#weights, this.#known);
      else this.closeFolds();
      throw error;
    }
  }

  /** `states`: inputs that lie in a block of states. `budget`: of the trace, whose time goes on. */
  make(traced: Graph, { states = [], budget }: { readonly states?: readonly string[]; readonly budget: Budget }): Program {
    const graph = this.#settings.optimize ? optimize(traced, this.#folds.fold, budget) : fuseElements(traced);
    const plan = planGraph(graph, {
      isDurable: (literal) => this.#folds.isDurable(literal),
      hasByteDot: this.#settings.features.byteDot !== "none",
      threads: this.#most,
      emittable: this.#emittable,
      states,
      budget,
    });
    budget.checkTime();
    this.#add(plan.kernels);
    const program = new Program(plan, this.#memory, (kernel, offsets, stride) => this.#threads.run(kernel, offsets, stride));
    this.#isFirst = false;
    return program;
  }

  /** `wanted`: names of outputs; all where absent. `state`: where the block of states starts. */
  async compute(
    program: Program,
    inputs: TensorMap,
    wanted: ReadonlySet<string> | undefined,
    { state, pace }: { readonly state?: number; readonly pace: Pace },
  ): Promise<TensorMap> {
    program.begin(inputs, state);
    const { all } = program.steps;
    for (let step = 0; step < all;) {
      step = program.advance(step, pace.deadline);
      if (step < all) await pace.turn();
    }
    return program.end(wanted);
  }

  /** Lets memory and threads go. */
  async dispose(): Promise<void> {
    await this.#threads.end();
    this.#memory.leave();
    this.#memory = new EngineMemory({ shared: false });
  }

  /** Compiles those kernels that no program had before. */
  #add(kernels: readonly Kernel[]): void {
    const added = kernels.filter(({ key }) => !this.#kernels.has(key));
    if (added.length === 0) return;
    const { memory } = this.#memory;
    const compiled = withOptimizingCompiler(() => compileKernels(added, memory, this.#settings.features));
    this.#know(compiled, [...compiled.functions.keys()]);
  }

  #know(compiled: CompiledKernels, keys: readonly string[]): void {
    this.#threads.add(compiled);
    for (const key of keys) this.#kernels.add(key);
    this.#modules.push({ module: compiled.module, keys });
  }
}

function describedWeights(weights: readonly Literal[]): string[] {
  return weights.map(({ dataType, shape }) => `${dataType}[${shape.join("x")}]`);
}
