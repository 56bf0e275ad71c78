/** Compiles traced graphs to executables and runs them. All executables of a loaded model share one memory, one set of threads and the packed weights. */
import type { KernelCount } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { elementCount } from "../../contract/tensor.ts";
import { describeSelection } from "../../kernels/describe-selection.ts";
import { KernelTally } from "../../kernels/kernel-tally.ts";
import {
  type CompiledKernels,
  compileKernels,
  instantiateKernels,
  type Kernel,
  type WasmFeatures,
} from "../codegen/wasm/index.ts";
import type { InstalledKernel, MachineCode, MachineObject } from "../codegen/x64/index.ts";
import type { Graph } from "../ir/graph.ts";
import type { KernelSelection } from "../../kernels/select-kernel.ts";
import type { QuantizedBlocks } from "../ir/lazy-storage.ts";
import type { Literal } from "../ir/literal.ts";
import type { BlockKernel } from "../lower/lowered-node.ts";
import { withOptimizer, withOptimizingCompiler, withoutOptimizer } from "../codegen/wasm/v8-flags.ts";
import type { ConstantFolder } from "../interpret/evaluate.ts";
import { type OptimizationLevel, runPasses } from "../passes/index.ts";
import { withHalfStates } from "../plan/half-states.ts";
import { type Plan, type PlanSettings, planGraph } from "../plan/plan.ts";
import { unpacked } from "../plan/unpacked-weights.ts";
import { ThreadPool, type ThreadHandle } from "../threads/thread-pool.ts";
import type { TraceBudget } from "../build/trace-budget.ts";
import { EngineMemory } from "../memory/engine-memory.ts";
import type { DiscardPages } from "../memory/idle-pages.ts";
import type { EngineReplica, SharedEngineState } from "./engine-replicas.ts";
import { CacheProgram } from "./decode/cache-program.ts";
import { heldSources, SourceBlocks } from "./decode/source-blocks.ts";
import type { DecoderCache, DecoderProgram, SourceStates, StateSettings } from "./decode/decoder-engine.ts";
import type { PastInput } from "./decode/decoder-inputs.ts";
import { type DecoderSizes, fineSizes } from "./decode/decoder-sizes.ts";
import { KvCache } from "./decode/kv-cache.ts";
import { type CountedStep, Executable, type RunKernel } from "./executable.ts";
import type { GraphCompiler } from "./graph-compiler.ts";
import type { KernelFunction } from "../lower/kernel-functions.ts";
import { ModelMachineCode } from "./model-machine-code.ts";
import { ModelFolding } from "./model-folding.ts";
import type { KernelChecks } from "./kernel-checks/kernel-checks.ts";
import type { RunLimits, StepCounts } from "./segments/model-run.ts";

/** Settings of the engine for one loaded model. */
export interface EngineSettings {
  /** WebAssembly features of this machine. */
  readonly features: WasmFeatures;
  /** How far graphs are rewritten before they are compiled. Default: "all". */
  readonly graphOptimization?: OptimizationLevel;
  /** Number of threads that compute, including the caller. Default: 1. */
  readonly threads?: number;
  /** Checks of generated code before its first use. Default: none, for tests of the engine itself. */
  readonly kernelChecks?: KernelChecks;
  /** Calls kernels that have machine code; freed with the model. Or why there is none: a sentence without a full stop. Default: WebAssembly computes all kernels. */
  readonly machineCode?: MachineCode | string;
  /** Prepares the function that returns free pages of the memory to the operating system. Default: free pages are kept until the model is unloaded. */
  readonly openDiscard?: (() => Promise<DiscardPages | undefined>) | undefined;
  /** Ids of kernels for quantized weights that are preferred, the most preferred first. Default: none. Without `kernelChecks` it has no effect. */
  readonly kernelPreference?: readonly string[];
  /** Starts a worker thread. Required if `threads` is above 1. */
  spawnThread?(): ThreadHandle;
  /** Identifies this model among replicas that share memory. Default: the model shares no memory. */
  readonly replica?: EngineReplica;
  /** Limits of traces and runs. Default: `defaultTraceLimits`, and no limit on the bytes of a run except the size of the memory. */
  readonly limits?: RunLimits;
}

/** Quantized weights without their elements. */
type SelectedWeights = Pick<QuantizedBlocks, "type" | "format" | "rows" | "columns">;

/** Most nodes of a graph, and most kernels, that are planned and generated without V8's optimizer; it pays for more. */
const maxUnoptimized = 2000;

/** Elements of a constant from which folding it pays for V8's optimizer. */
const minOptimizedElements = 2 ** 14;

/** Compiles the traced graphs of one loaded model to executables and runs them. All executables share memory, threads and packed weights. */
export class Compiler implements GraphCompiler {
  readonly isBatchExact = true;
  readonly decoderSizes: DecoderSizes = fineSizes;
  readonly #settings: EngineSettings;
  readonly #weights: readonly Literal[];
  readonly #threads: ThreadPool;
  readonly #threadCount: number;
  readonly #kernels = new Set<string>();
  readonly #modules: SharedEngineState["modules"][number][] = [];
  #memory: EngineMemory;
  readonly #sourceBlocks: SourceBlocks;
  readonly #folding: ModelFolding;
  /** The kernel calls of all executables, including disposed ones. */
  readonly tally: KernelTally = new KernelTally();
  /** Quantized weights that a kernel was selected for. */
  readonly #selected = new Map<string, SelectedWeights>();
  readonly #checkedFunctions = new Set<string>();
  readonly #excludedFunctions = new Set<string>();
  #defersKernels = false;
  readonly #machine: ModelMachineCode;

  /**
   * Creates the memory and starts the threads. `weights` are the tensors of the model file. Throws CONTRACT_VIOLATION when the shared state belongs
   * to a model with other tensors.
   */
  constructor(weights: readonly Literal[], settings: EngineSettings) {
    this.#settings = settings;
    this.#weights = weights;
    const { threads = 1, spawnThread, replica } = settings;
    const from = replica?.from;
    if (from !== undefined && from.weights.join() !== weightSignatures(weights).join())
      throw new InferyardError("CONTRACT_VIOLATION", "the replica that shares its weights was loaded from another model");
    this.#machine = new ModelMachineCode(settings.machineCode, settings.kernelChecks);
    this.#folding = new ModelFolding(weights, from?.folds);
    this.#threadCount = spawnThread === undefined ? 1 : threads;
    const packed = from?.packed;
    this.#memory = new EngineMemory({
      shared: this.#threadCount > 1 || (replica !== undefined && !(replica.replicaIds.buffer instanceof ArrayBuffer)),
      ...omitUndefined({ replica, from }),
      openDiscard: settings.openDiscard,
      findPacked: (literal, layout) =>
        packed?.get(this.#folding.cache.getId(literal) ?? -1)?.find((location) => location.layout === layout),
    });
    this.#sourceBlocks = new SourceBlocks(this.#memory);
    const noThreads = (): never => {
      throw new InferyardError("CONTRACT_VIOLATION", "threads were requested without a function that starts them");
    };
    this.#threads = new ThreadPool({ threads: this.#threadCount, memory: this.#memory.memory, spawn: spawnThread ?? noThreads });
    for (const { module, machineObject } of from?.modules ?? []) {
      const functions = instantiateKernels(module, this.#memory.memory);
      this.#addModule({ module, functions }, machineObject);
    }
  }

  /** Whether replicas may share the packed weights of this model. */
  get isSharing(): boolean {
    return this.#settings.replica !== undefined;
  }

  /** Whether this model uses weights that another replica packed. */
  get readsSharedWeights(): boolean {
    return this.#settings.replica?.from !== undefined;
  }

  /** Returns the state from which a new replica can be created. Returns undefined if no weights are packed yet or if the model was not loaded as a replica. */
  exportState(): SharedEngineState | undefined {
    if (!this.isSharing) return undefined;
    const places = [...this.#folding.cache.literalsById].map(
      ([number, literal]) => [number, this.#memory.packedLocations(literal)] as const,
    );
    const packed = new Map(places.filter(([, found]) => found.length > 0));
    if (packed.size === 0) return undefined;
    const weights = weightSignatures(this.#weights);
    return { ...this.#memory.share(), weights, folds: this.#folding.cache.snapshot, packed, modules: this.#modules };
  }

  /** Packs weights that no kernel reads but later executables may need, so that other replicas find them in shared memory. */
  publishWeights(): void {
    if (!this.isSharing) return;
    for (const literal of this.#weights) if (literal.storage?.isStored === true) this.#memory.pack(unpacked(literal), true);
  }

  /** Results of the checks of generated code for this model, as sentences without a full stop; empty without checks. */
  describeCode(): readonly string[] {
    const { kernelChecks } = this.#settings;
    if (kernelChecks === undefined) return [];
    const failed = kernelChecks.failed.filter(({ name }) => this.#excludedFunctions.has(name));
    const isUnused = this.#settings.kernelPreference !== undefined && this.#selected.size === 0;
    return [
      `kernel checks: ${kernelChecks.describe([...this.#checkedFunctions])}`,
      ...this.#machine.describe(),
      ...new Set([...this.#selected.values()].map((weights) => describeSelection(this.#selectKernel(kernelChecks, weights)))),
      ...(isUnused ? ["the preferred kernels multiply none of its weights: none are in blocks"] : []),
      ...failed.map(({ name, problem }) => `kernel check failed: ${name}: ${problem}; the interpreter computes it instead`),
    ];
  }

  describeRun({ all, interpreted, executables }: StepCounts & { readonly executables: number }): string {
    const what = executables === 1 ? "executable" : `${executables} executables`;
    return `${what} of ${all} steps: ${all - interpreted} generated kernels, ${interpreted} interpreted`;
  }

  /** The memory that all executables compute in. */
  get memory(): EngineMemory {
    return this.#memory;
  }

  get bytes(): number {
    return this.#memory.bytes;
  }

  get kernelCounts(): readonly KernelCount[] {
    return this.tally.counts;
  }

  get fold(): ConstantFolder {
    return this.#folding.fold;
  }

  /** `fold` for passes, which run without V8's optimizer: large constants are folded with it. */
  readonly #foldMany: ConstantFolder = (operation, inputs) => {
    const isLarge = inputs.some((input) => input !== undefined && elementCount(input.shape) >= minOptimizedElements);
    return isLarge ? withOptimizer(() => this.fold(operation, inputs)) : this.fold(operation, inputs);
  };

  openFoldingCache(branchPath: string): void {
    this.#folding.openBranch(branchPath);
  }

  closeFoldingCache(): void {
    this.#folding.close();
  }

  attempt<Result>(work: () => Result): Result {
    return this.#folding.attempt(work);
  }

  async checkInterpreter(): Promise<void> {
    await this.#settings.kernelChecks?.checkInterpreter(this.#folding.takeEvaluated(), this.#excludedFunctions);
  }

  reserveArena(bytes: number): void {
    this.#memory.reserveArena(bytes);
  }

  createCache(states: readonly PastInput[], capacity: number): DecoderCache {
    return new KvCache(this.#memory, states, capacity);
  }

  releaseSource(source: SourceStates): void {
    this.#sourceBlocks.release(source);
  }

  /** Runs `work`. If `defers`, the kernels of executables that it makes are compiled when these first run; weights are packed at once. */
  withDeferredKernels<Result>(defers: boolean, work: () => Result): Result {
    this.#defersKernels = defers;
    try {
      return work();
    } finally {
      this.#defersKernels = false;
    }
  }

  compile(graph: Graph, { budget }: { readonly budget: TraceBudget }): Executable {
    return this.#compile(graph, { states: [], held: [], batch: 1, stateType: "float32", budget });
  }

  compileDecoder(graph: Graph, settings: StateSettings & { readonly budget: TraceBudget }): DecoderProgram {
    const held = heldSources(settings.sources);
    return new CacheProgram(this.#compile(graph, { ...settings, held }), { ...settings, held, blocks: this.#sourceBlocks });
  }

  /** Optimizes, plans and compiles a graph. States are stored in as many blocks as there are sequences (see `PlanSettings`). */
  #compile(
    traced: Graph,
    {
      states,
      held,
      batch,
      stateType,
      budget,
    }: Pick<StateSettings, "states" | "batch" | "stateType"> & { readonly held: readonly string[]; readonly budget: TraceBudget },
  ): Executable {
    const { graphOptimization: level = "all" } = this.#settings;
    const optimized = this.#withoutOptimizer(traced.nodes, () => runPasses(traced, { level, fold: this.#foldMany, budget }));
    const graph = stateType === "float16" ? withHalfStates(optimized, states) : optimized;
    const plan = this.#plan(graph, { states, sources: held, stateBlocks: batch, budget });
    budget.checkTime();
    const { kernels } = plan;
    const { functions } = plan;
    if (!this.#defersKernels) this.#compileKernels(kernels, functions);
    const run: RunKernel = (kernel, offsets, stride) => this.#threads.run(kernel, offsets, stride);
    const prepare = this.#defersKernels ? (): void => this.#compileKernels(kernels, functions) : undefined;
    const getId = (step: CountedStep): string => this.#machine.getId(step);
    const executable = new Executable(plan, this.#memory, run, { tally: this.tally, prepare, getId });
    this.#folding.keep();
    return executable;
  }

  /** Terminates the threads and releases the memory. */
  async dispose(): Promise<void> {
    await this.#threads.end();
    this.#machine.free();
    this.#memory.close();
    this.#memory = new EngineMemory({ shared: false });
  }

  /** Selects the kernel of quantized weights. */
  #blockKernelFor(checks: KernelChecks, { type, format, rows, columns }: QuantizedBlocks): BlockKernel | undefined {
    const weights = { type, format, rows, columns };
    this.#selected.set(`${type} ${rows}x${columns}`, weights);
    const { selected } = this.#selectKernel(checks, weights);
    return selected && checks.blockKernels.getKernel(selected);
  }

  #selectKernel({ blockKernels, selfTests }: KernelChecks, weights: SelectedWeights): KernelSelection {
    const { limit: machineCode } = this.#machine;
    return blockKernels.select(weights, { selfTests, preference: this.#settings.kernelPreference, machineCode });
  }

  /** Plans with kernels that passed their checks. Each round excludes at least one function more. */
  #plan(graph: Graph, settings: Pick<PlanSettings, "states" | "sources" | "stateBlocks" | "budget">): Plan {
    const { features, kernelChecks } = this.#settings;
    const isExcluded = (name: string): boolean => kernelChecks?.hasFailed(name) === true;
    for (;;) {
      const plan = this.#withoutOptimizer(graph.nodes, () =>
        planGraph(graph, {
          isModelConstant: (literal) => this.#folding.cache.isModelConstant(literal),
          hasByteDot: features.byteDot !== "none",
          hasWideVectors: typeof this.#settings.machineCode === "object",
          threads: this.#threadCount,
          isExcluded,
          ...(kernelChecks === undefined ? {} : { blockKernelFor: (blocks) => this.#blockKernelFor(kernelChecks, blocks) }),
          ...settings,
        }),
      );
      if (kernelChecks?.check(plan.functions) === true) continue;
      for (const { name } of plan.functions) this.#checkedFunctions.add(name);
      for (const name of plan.excluded) this.#excludedFunctions.add(name);
      for (const step of plan.steps) if (step.kind === "interpret") this.#folding.addEvaluated(step.operation);
      return plan;
    }
  }

  /** Compiles the kernels that no earlier executable has compiled: to WebAssembly unless they are installed as machine code. */
  #compileKernels(kernels: readonly Kernel[], functions: readonly KernelFunction[]): void {
    const added = kernels.filter(({ key }) => !this.#kernels.has(key));
    if (added.length === 0) return;
    const machineObject = this.#machine.create(added, functions);
    const installed = this.#machine.install(machineObject);
    const replaced = new Set(installed.map(({ key }) => key));
    const others = added.filter(({ key }) => !replaced.has(key));
    const { memory } = this.#memory;
    const compiled = this.#withoutOptimizer(others, () =>
      withOptimizingCompiler(() => compileKernels(others, memory, this.#settings.features)),
    );
    this.#addModule(compiled, machineObject, installed);
  }

  /** Runs `work` on a list without V8's optimizer for JavaScript, unless the list is long. */
  #withoutOptimizer<Result>({ length }: readonly unknown[], work: () => Result): Result {
    return length > maxUnoptimized ? work() : withoutOptimizer(work);
  }

  /** Adds kernels of WebAssembly and of machine code. Each replica installs machine code of its own, so that none calls what another has freed. */
  #addModule(
    compiled: CompiledKernels,
    machineObject: MachineObject | undefined,
    installed: readonly InstalledKernel[] = this.#machine.install(machineObject),
  ): void {
    const all = this.#machine.bind(compiled, installed, this.#memory.memory);
    this.#threads.add(all);
    for (const key of all.functions.keys()) this.#kernels.add(key);
    this.#modules.push({ module: compiled.module, machineObject });
  }
}

function weightSignatures(weights: readonly Literal[]): string[] {
  return weights.map(({ dataType, shape }) => `${dataType}[${shape.join("x")}]`);
}
