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
import type { ConstantFolder } from "../interpret/evaluate.ts";
import { fuseElementwise } from "../passes/fuse-elementwise.ts";
import { optimize } from "../passes/index.ts";
import { unpacked, planGraph } from "../plan/plan.ts";
import { ThreadPool, type ThreadHandle } from "../threads/thread-pool.ts";
import { ConstantFoldingCache, type FoldingSnapshot } from "../build/constant-folding-cache.ts";
import type { TraceBudget } from "../build/trace-budget.ts";
import { EngineMemory } from "../memory/engine-memory.ts";
import type { EngineReplica, SharedEngineState } from "./engine-replicas.ts";
import type { YieldPolicy } from "./yield-policy.ts";
import { Executable } from "./executable.ts";
import type { RunLimits } from "./segments/model-run.ts";

export interface EngineSettings {
  readonly features: WasmFeatures;
  /** false: the graph runs as the model's file spells it out. */
  readonly optimize: boolean;
  /** Threads that compute, the calling one among them. Default: 1. */
  readonly threads?: number;
  /** Starts one of the others. Default: there are no others. */
  spawnThread?(): ThreadHandle;
  /** Copies that may share what they only read. Default: it shares nothing. */
  readonly replica?: EngineReplica;
  /** What a trace and a run may take. Default: `defaultLimits` for traces, and runs as large as the memory. */
  readonly limits?: RunLimits;
}

/** Ways through a model whose weights are folded for all programs. */
const maxBranchPaths = 8;

export class Compiler {
  readonly #settings: EngineSettings;
  readonly #weights: readonly Literal[];
  readonly #threads: ThreadPool;
  readonly #threadCount: number;
  readonly #kernels = new Set<string>();
  readonly #modules: SharedEngineState["modules"][number][] = [];
  /** What another copy has folded. */
  readonly #importedFolds: FoldingSnapshot | undefined;
  #memory: EngineMemory;
  #foldingCache: ConstantFoldingCache;
  readonly #branchPaths = new Set<string>();
  #isFirst = true;

  /** `weights`: the model's own tensors. */
  constructor(weights: readonly Literal[], settings: EngineSettings) {
    this.#settings = settings;
    this.#weights = weights;
    const { threads = 1, spawnThread, replica } = settings;
    const from = replica?.from;
    if (from !== undefined && from.weights.join() !== weightSignatures(weights).join())
      throw new InferyardError("CONTRACT_VIOLATION", "the copy that shares its weights is one of another model");
    this.#importedFolds = from?.folds;
    this.#foldingCache = new ConstantFoldingCache(weights, this.#importedFolds);
    this.#threadCount = spawnThread === undefined ? 1 : threads;
    const places = from?.packed;
    this.#memory = new EngineMemory({
      shared: this.#threadCount > 1 || (replica !== undefined && !(replica.replicaIds.buffer instanceof ArrayBuffer)),
      ...(replica === undefined ? {} : { replica }),
      ...(from === undefined ? {} : { from }),
      findPacked: (literal, layout) =>
        places?.get(this.#foldingCache.idOf(literal) ?? -1)?.find((place) => place.layout === layout),
    });
    const refuse = (): never => {
      throw new InferyardError("CONTRACT_VIOLATION", "there is nothing to start threads with");
    };
    this.#threads = new ThreadPool({ threads: this.#threadCount, memory: this.#memory.memory, spawn: spawnThread ?? refuse });
    for (const { module, keys } of from?.modules ?? [])
      this.#addModule({ module, functions: instantiateKernels(module, this.#memory.memory) }, keys);
  }

  /** Whether copies may share what it only reads. */
  get isSharing(): boolean {
    return this.#settings.replica !== undefined;
  }

  /** Whether it reads weights that another copy has packed. */
  get readsSharedWeights(): boolean {
    return this.#settings.replica?.from !== undefined;
  }

  /** What a copy may be given; undefined as long as no weights are packed, or where copies were not spoken of. */
  exportState(): SharedEngineState | undefined {
    if (!this.isSharing) return undefined;
    const places = [...this.#foldingCache.literalsById].map(
      ([number, literal]) => [number, this.#memory.packedLocations(literal)] as const,
    );
    const packed = new Map(places.filter(([, found]) => found.length > 0));
    if (packed.size === 0) return undefined;
    const weights = weightSignatures(this.#weights);
    return { ...this.#memory.share(), weights, folds: this.#foldingCache.snapshot, packed, modules: this.#modules };
  }

  /** Weights that no kernel reads, and which are held because other programs may want them, go to where copies find them. */
  publishWeights(): void {
    if (!this.isSharing) return;
    for (const literal of this.#weights) if (literal.storage?.isStored === true) this.#memory.pack(unpacked(literal), true);
  }

  get memory(): EngineMemory {
    return this.#memory;
  }

  /** Computes what is known, once for all programs of the model. */
  get fold(): ConstantFolder {
    return this.#foldingCache.fold;
  }

  /** What is made next goes this way through the model's branches. One that is new has weights of its own, which are folded for all its programs. */
  openFoldingCache(way: string): void {
    if (this.#branchPaths.has(way) || this.#branchPaths.size >= maxBranchPaths) return;
    this.#branchPaths.add(way);
    this.#foldingCache.reopen();
  }

  /** What of the model's weights is folded later is no longer folded for all: see `FoldMemo`. */
  closeFoldingCache(): void {
    this.#foldingCache.close();
  }

  /** Tracing or making a program. Where the first one fails, nothing is remembered of what it folded. */
  attempt<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (this.#isFirst) this.#foldingCache = new ConstantFoldingCache(this.#weights, this.#importedFolds);
      else this.closeFoldingCache();
      throw error;
    }
  }

  /** `states`: inputs that lie in a block of states. `budget`: of the trace, whose time goes on. */
  compile(
    traced: Graph,
    { states = [], budget }: { readonly states?: readonly string[]; readonly budget: TraceBudget },
  ): Executable {
    const graph = this.#settings.optimize ? optimize(traced, this.#foldingCache.fold, budget) : fuseElementwise(traced);
    const plan = planGraph(graph, {
      isModelConstant: (literal) => this.#foldingCache.isModelConstant(literal),
      hasByteDot: this.#settings.features.byteDot !== "none",
      threads: this.#threadCount,
      states,
      budget,
    });
    budget.checkTime();
    this.#compileKernels(plan.kernels);
    const program = new Executable(plan, this.#memory, (kernel, offsets, stride) => this.#threads.run(kernel, offsets, stride));
    this.#isFirst = false;
    return program;
  }

  /** `wanted`: names of outputs; all where absent. `state`: where the block of states starts. */
  async execute(
    program: Executable,
    inputs: TensorMap,
    wanted: ReadonlySet<string> | undefined,
    { state, pace }: { readonly state?: number; readonly pace: YieldPolicy },
  ): Promise<TensorMap> {
    program.writeInputs(inputs, state);
    const { all } = program.steps;
    for (let step = 0; step < all;) {
      step = program.runSteps(step, pace.deadline);
      if (step < all) await pace.yieldIfDue();
    }
    return program.readOutputs(wanted);
  }

  /** Lets memory and threads go. */
  async dispose(): Promise<void> {
    await this.#threads.end();
    this.#memory.close();
    this.#memory = new EngineMemory({ shared: false });
  }

  /** Compiles those kernels that no program had before. */
  #compileKernels(kernels: readonly Kernel[]): void {
    const added = kernels.filter(({ key }) => !this.#kernels.has(key));
    if (added.length === 0) return;
    const { memory } = this.#memory;
    const compiled = withOptimizingCompiler(() => compileKernels(added, memory, this.#settings.features));
    this.#addModule(compiled, [...compiled.functions.keys()]);
  }

  #addModule(compiled: CompiledKernels, keys: readonly string[]): void {
    this.#threads.add(compiled);
    for (const key of keys) this.#kernels.add(key);
    this.#modules.push({ module: compiled.module, keys });
  }
}

function weightSignatures(weights: readonly Literal[]): string[] {
  return weights.map(({ dataType, shape }) => `${dataType}[${shape.join("x")}]`);
}
