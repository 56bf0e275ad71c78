/** Compiles traced graphs to executables and runs them. All executables of a loaded model share one memory, one set of threads and the packed weights. */
import type { KernelCount } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { elementCount } from "../../contract/tensor.ts";
import { describeSelection } from "../../kernels/describe-selection.ts";
import { KernelTally } from "../../kernels/kernel-tally.ts";
import { type CompiledKernels, compileKernels, instantiateKernels, type Kernel } from "../codegen/wasm/index.ts";
import type { InstalledKernel, MachineObject } from "../codegen/x64/index.ts";
import type { Graph } from "../ir/graph.ts";
import type { KernelSelection } from "../../kernels/select-kernel.ts";
import type { QuantizedBlocks } from "../ir/lazy-storage.ts";
import type { Literal } from "../ir/literal.ts";
import type { BlockKernel } from "../lower/lowered-node.ts";
import { withOptimizer, withOptimizingCompiler, withoutOptimizer } from "../codegen/wasm/v8-flags.ts";
import type { ConstantFolder } from "../interpret/evaluate.ts";
import { runPasses } from "../passes/index.ts";
import { withHalfStates } from "../plan/half-states.ts";
import { type Plan, type PlanSettings, planGraph } from "../plan/plan.ts";
import { unpacked } from "../plan/unpacked-weights.ts";
import { ThreadPool } from "../threads/thread-pool.ts";
import type { TraceBudget } from "../build/trace-budget.ts";
import { EngineMemory } from "../memory/engine-memory.ts";
import type { SharedEngineState } from "./engine-replicas.ts";
import { CacheProgram } from "./decode/cache-program.ts";
import { heldSources, SourceBlocks } from "./decode/source-blocks.ts";
import type { DecoderCache, DecoderProgram, SourceStates, StateSettings } from "./decode/decoder-engine.ts";
import type { PastInput } from "./decode/decoder-inputs.ts";
import { type DecoderSizes, fineSizes } from "./decode/decoder-sizes.ts";
import { KvCache } from "./decode/kv-cache.ts";
import { type CountedStep, Executable, type RunKernel } from "./executable.ts";
import type { EngineSettings } from "./engine-settings.ts";
import type { GraphCompiler } from "./graph-compiler.ts";
import { type KernelFunction, familyOf } from "../lower/kernel-functions.ts";
import { ModelMachineCode } from "./model-machine-code.ts";
import { ModelFolding } from "./model-folding.ts";
import type { KernelChecks } from "./kernel-checks/kernel-checks.ts";
import type { StepCounts } from "./segments/model-run.ts";
import type { Segment } from "./segments/segment.ts";
import { evaluateStep } from "./evaluate-step.ts";
import { type KeeperContext, PlanKeeper, type TakenPlans, takePlans } from "./kept/plan-keeper.ts";

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
  readonly #keeper: PlanKeeper | undefined;
  /** Whether weights of 8 bits are large: their range, and whether kernels for bytes may multiply them, is looked for. */
  readonly #readsWeights: boolean;

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
    this.#readsWeights = weights.some(
      ({ dataType, shape }) => /^u?int8$/.test(dataType) && elementCount(shape) >= minOptimizedElements,
    );
    this.#keeper = settings.keepsPlans === true ? new PlanKeeper() : undefined;
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

  /** See `EngineModel.hasNewPlans`. */
  get hasNewPlans(): boolean {
    return this.#keeper?.hasPlans === true;
  }

  /** Takes what was collected of these segments for later processes: see `EngineModel.takePlans`. */
  takePlans(segments: readonly Segment[]): TakenPlans | undefined {
    if (this.#keeper === undefined) return undefined;
    const { kernelChecks } = this.#settings;
    const context: KeeperContext = {
      memory: this.#memory,
      cache: this.#folding.cache,
      getId: (step) => this.#machine.getId(step),
      checksOf: ({ functions }) => this.#machine.checksOf(functions, kernelChecks),
    };
    return takePlans(this.#keeper, segments, weightSignatures(this.#weights), context);
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
    const optimized = this.#withoutOptimizer(traced.nodes, () =>
      runPasses(traced, { level, hasExactFloats: true, fold: this.#foldMany, budget }),
    );
    const graph = stateType === "float16" ? withHalfStates(optimized, states) : optimized;
    const settings = { states, sources: held, stateBlocks: batch, budget };
    let plan = this.#plan(graph, settings);
    // A function that fails its check when it is compiled is excluded from the next plan.
    while (!this.#defersKernels && !this.#compileKernels(plan)) plan = this.#plan(graph, settings);
    budget.checkTime();
    const run: RunKernel = (kernel, offsets, stride) => this.#threads.run(kernel, offsets, stride);
    const prepare = this.#defersKernels ? (): void => this.#compileDeferred(plan) : undefined;
    const getId = (step: CountedStep): string => this.#machine.getId(step);
    const options = { tally: this.tally, prepare, getId, evaluate: evaluateStep };
    const executable = new Executable(plan, this.#memory, run, options);
    this.#keeper?.addPlan(executable, plan);
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

  /**
   * Plans with kernels that passed their checks. Each round excludes at least one function more. Functions of kernels that may become machine code are checked when they are compiled.
   */
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
      const now = plan.kernels.filter(({ machine }) => machine === undefined || !this.#checksWhenCompiled);
      if (kernelChecks?.check(functionsOf(plan, now)) === true) continue;
      for (const { name } of plan.functions) this.#checkedFunctions.add(name);
      for (const name of plan.excluded) this.#excludedFunctions.add(name);
      for (const step of plan.steps) if (step.kind === "interpret") this.#folding.addEvaluated(step.operation);
      return plan;
    }
  }

  /** Whether functions are checked as what they become, machine code or WebAssembly, and not before that is known. */
  get #checksWhenCompiled(): boolean {
    // A replica gets kernels that another one has compiled.
    return typeof this.#settings.machineCode === "object" && (this.#settings.replica?.from?.modules.length ?? 0) === 0;
  }

  #compileDeferred(plan: Plan): void {
    if (this.#compileKernels(plan)) return;
    const failed = plan.functions.filter(({ name }) => this.#settings.kernelChecks?.hasFailed(name) === true);
    throw new InferyardError(
      "VERIFICATION_FAILED",
      `kernels are wrong on this machine: ${failed.map(({ name }) => name).join(", ")}`,
      {
        remedy: "report this with the output of `inferyard doctor --json`",
      },
    );
  }

  /**
   * Compiles the kernels of a plan that no earlier executable has compiled: to WebAssembly unless they are installed as machine code. Returns false, and compiles nothing, if a
   * function is wrong in WebAssembly, which would have to compute it.
   */
  #compileKernels(plan: Plan): boolean {
    const added = plan.kernels.filter(({ key }) => !this.#kernels.has(key));
    if (added.length === 0) return true;
    const machineObject = this.#machine.create(added, plan.functions);
    const installed = this.#machine.install(machineObject);
    const replaced = new Set(installed.map(({ key }) => key));
    const others = added.filter(({ key }) => !replaced.has(key));
    if (this.#settings.kernelChecks?.check(functionsOf(plan, others)) === true) return false;
    const { memory } = this.#memory;
    const compiled = this.#withoutOptimizer(others, () =>
      withOptimizingCompiler(() => compileKernels(others, memory, this.#settings.features)),
    );
    this.#addModule(compiled, machineObject, installed);
    const keys = [...new Set(added.map(({ key }) => key))];
    this.#keeper?.addKernels({
      keys,
      machineKernels: installed.length,
      module: others.length === 0 ? undefined : compiled.binary,
    });
    return true;
  }

  /** Runs `work` on a list without V8's optimizer for JavaScript, unless the list is long, or passes and plans read all elements of large weights. */
  #withoutOptimizer<Result>({ length }: readonly unknown[], work: () => Result): Result {
    return length > maxUnoptimized || this.#readsWeights ? work() : withoutOptimizer(work);
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

/** The functions of a plan that some of its kernels compute, and those with quantized weights, whose tests are not of WebAssembly alone. */
function functionsOf({ functions }: Plan, kernels: readonly Kernel[]): readonly KernelFunction[] {
  const families = new Set(kernels.map(({ family }) => family));
  return functions.filter(({ name, blocks }) => blocks !== undefined || families.has(familyOf(name)));
}

function weightSignatures(weights: readonly Literal[]): string[] {
  return weights.map(({ dataType, shape }) => `${dataType}[${shape.join("x")}]`);
}
