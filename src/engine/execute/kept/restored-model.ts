/**
 * A model that runs the plans of an earlier process, over weights that it had packed. Nothing is traced, planned or compiled for inputs of types that have a
 * plan; for others the engine is opened over the same memory, and computes all that follows.
 */
import type { KernelCount, ProgramCounts } from "../../../contract/backend.ts";
import { at, required } from "../../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../../contract/errors.ts";
import type { Tensor, TensorMap } from "../../../contract/tensor.ts";
import { KernelTally, sumKernelCounts } from "../../../kernels/kernel-tally.ts";
import { Mutex } from "../../../concurrency/mutex.ts";
import { instantiateKernels } from "../../codegen/wasm/compile.ts";
import { wasmHost } from "../../codegen/wasm/assembler/webassembly.ts";
import { withOptimizingCompiler } from "../../codegen/wasm/v8-flags.ts";
import { type MachineCode, withInstalled } from "../../codegen/x64/machine-code.ts";
import type { Literal } from "../../ir/literal.ts";
import { EngineMemory, type PackedLocation } from "../../memory/engine-memory.ts";
import type { DiscardPages } from "../../memory/idle-pages.ts";
import type { PackedWeights } from "../../lower/lowered-node.ts";
import type { BufferRef, PlanStep, TensorRef } from "../../plan/plan.ts";
import type { KernelCall } from "../../codegen/wasm/kernel.ts";
import { ThreadPool, type ThreadHandle } from "../../threads/thread-pool.ts";
import type { EngineRunOptions } from "../compiled-model.ts";
import type { EngineModel } from "../engine-model.ts";
import type { EngineReplica, SharedEngineState } from "../engine-replicas.ts";
import { Executable, type RunnablePlan } from "../executable.ts";
import { describeChecks, functionOf } from "../kernel-checks/machine-checks.ts";
import { runTooLarge, type StepCounts } from "../segments/model-run.ts";
import { YieldPolicy } from "../yield-policy.ts";
import { describeInputTypes, type KeptKernels, type KeptPlace, type KeptPlan, type KeptWeightsTable } from "./kept-plan.ts";

/** What a restored model is made of. */
export interface RestoredModelSettings {
  readonly table: KeptWeightsTable;
  /** Reads the next packed weights of the table into `target`. Called once for each, in order; throws where that fails. */
  readWeights(target: Uint8Array): void;
  /** The plan for inputs of these types, as `describeInputTypes` tells them; undefined if there is none that can be used. */
  findPlan(inputTypes: string): KeptPlan | undefined;
  /**
   * Opens the engine, whose replica slot and state are given, for inputs without a plan. Waits for `use`, which does not throw, before the files of the model are closed: weights that the
   * engine finds packed need not be read.
   */
  openEngine(replica: EngineReplica, use: (engine: EngineModel) => Promise<void>): Promise<EngineModel>;
  readonly machineCode: MachineCode | string;
  /** Time of the first of the checks that passed, ISO 8601. Default: not known. */
  readonly checkedSince?: string | undefined;
  /** See `EngineSettings`. */
  readonly threads?: number;
  spawnThread?(): ThreadHandle;
  readonly replica?: Omit<EngineReplica, "from">;
  readonly maxRunBytes?: number | undefined;
  readonly openDiscard?: (() => Promise<DiscardPages | undefined>) | undefined;
}

/** A plan that can run. */
interface RestoredPlan extends Pick<KeptPlan, "inputNames" | "results" | "runBytes" | "checks"> {
  readonly executable: Executable;
}

/** See the head of this file. Methods may be called concurrently; runs are computed one after the other. */
export class RestoredModel {
  readonly #settings: RestoredModelSettings;
  readonly #replica: Omit<EngineReplica, "from">;
  readonly #memory: EngineMemory;
  readonly #threads: ThreadPool;
  readonly #mutex = new Mutex();
  readonly #tally = new KernelTally();
  /** The packed weights of the table, by tensor and layout. */
  readonly #weights = new Map<string, PackedWeights>();
  readonly #kernels = new Set<string>();
  readonly #machineKernels = new Set<string>();
  readonly #plans = new Map<string, RestoredPlan>();
  readonly #checks = new Set<string>();
  #lastSteps: StepCounts = { all: 0, interpreted: 0 };
  #engine: EngineModel | undefined;

  /** Reads the weights into a new memory. Throws what `readWeights` throws, and OUT_OF_MEMORY. */
  constructor(settings: RestoredModelSettings) {
    this.#settings = settings;
    const { table, threads = 1, spawnThread, replica, openDiscard, readWeights } = settings;
    // A slot for this model, and one for the engine.
    this.#replica = replica ?? { replicaIds: Int32Array.of(1, 2), index: 0 };
    const isShared = threads > 1 || !(this.#replica.replicaIds.buffer instanceof ArrayBuffer);
    this.#memory = new EngineMemory({ shared: isShared, replica: this.#replica, openDiscard });
    const noThreads = (): never => {
      throw new InferyardError("CONTRACT_VIOLATION", "threads were requested without a function that starts them");
    };
    this.#threads = new ThreadPool({ threads, memory: this.#memory.memory, spawn: spawnThread ?? noThreads });
    for (const { tensor, location } of table.packed) {
      const { layout, bytes } = location;
      this.#weights.set(weightsKey(tensor, layout), { source: noElements(), layout, bytes, packStored: readWeights });
    }
    const weights = [...this.#weights.values()];
    this.#memory.reserve(weights);
    for (const each of weights) this.#memory.pack(each, true);
  }

  /** See `EngineModel`. */
  get isSharing(): boolean {
    return this.#settings.replica !== undefined;
  }

  readonly readsSharedWeights = false;

  get arenaBytes(): number {
    return Math.max(this.#engine?.arenaBytes ?? 0, ...[...this.#plans.values()].map(({ executable }) => executable.arenaBytes));
  }

  get bytes(): number {
    return this.#memory.bytes + (this.#engine === undefined || this.isSharing ? 0 : this.#engine.bytes);
  }

  get kernelCounts(): readonly KernelCount[] {
    return sumKernelCounts([this.#tally.counts, this.#engine?.kernelCounts ?? []]);
  }

  readonly programs: ProgramCounts | undefined = undefined;

  /** The engine that computes since inputs came that have no plan; undefined before. */
  get engine(): EngineModel | undefined {
    return this.#engine;
  }

  /** The state from which a replica can be created on another thread. */
  exportState(): SharedEngineState | undefined {
    return this.isSharing ? this.#share() : undefined;
  }

  /** Makes the plan for inputs of these types ready to run. Returns whether there is one. */
  prepare(inputTypes: string): boolean {
    const plan = this.#restore(inputTypes);
    if (plan === undefined) return false;
    this.#lastSteps = plan.executable.steps;
    return true;
  }

  /** See `CompiledModel.run`. */
  async run(inputs: TensorMap, options: EngineRunOptions = {}): Promise<TensorMap> {
    return await this.#mutex.runExclusive(async () => {
      throwIfAborted(options.signal);
      const plan = this.#engine === undefined ? this.#restore(describeInputTypes(Object.entries(inputs))) : undefined;
      if (plan !== undefined) return await this.#runPlan(plan, inputs, options);
      if (this.#engine !== undefined) return await this.#engine.run(inputs, options);
      let outcome: PromiseSettledResult<TensorMap> | undefined;
      await this.#openEngine(async (engine) => {
        [outcome] = await Promise.allSettled([engine.run(inputs, options)]);
      });
      if (outcome?.status === "fulfilled") return outcome.value;
      throw outcome?.reason;
    });
  }

  async #runPlan(
    { executable, inputNames, results, runBytes }: RestoredPlan,
    inputs: TensorMap,
    { outputs, signal }: EngineRunOptions,
  ): Promise<TensorMap> {
    const { maxRunBytes } = this.#settings;
    if (maxRunBytes !== undefined && runBytes > maxRunBytes) throw runTooLarge(runBytes, maxRunBytes);
    const wanted = outputs && new Set(outputs);
    const returned = results.filter(({ name }) => wanted?.has(name) ?? true);
    const names = new Set(returned.flatMap(({ from }) => (typeof from === "number" ? [String(from)] : [])));
    const given = Object.fromEntries(inputNames.map((name, index) => [String(index), required(inputs[name], name)]));
    const computed = await executable.run(given, names, { yieldPolicy: new YieldPolicy(signal) });
    this.#lastSteps = executable.steps;
    const used = new Set<string>();
    return Object.fromEntries(
      returned.map(({ name, from }) => {
        if (typeof from !== "number") return [name, copy(typeof from === "string" ? required(inputs[from], from) : from)];
        const result = required(computed[String(from)], name);
        if (used.has(String(from))) return [name, copy(result)]; // two names of one value
        used.add(String(from));
        return [name, result];
      }),
    );
  }

  #restore(inputTypes: string): RestoredPlan | undefined {
    const known = this.#plans.get(inputTypes);
    if (known !== undefined) return known;
    const plan = this.#settings.findPlan(inputTypes);
    if (plan === undefined || !plan.compiled.every((kernels) => this.#install(kernels))) return undefined;
    if (!plan.kernels.every(({ key }) => this.#kernels.has(key))) return undefined;
    const weights = plan.weights.map(({ tensor, layout, bytes, data }): PackedWeights | undefined => {
      if (tensor !== undefined) return this.#weights.get(weightsKey(tensor, layout));
      return data && { source: noElements(), layout, bytes, packStored: (target) => target.set(data) };
    });
    if (!weights.every((each, index) => each?.bytes === at(plan.weights, index).bytes)) return undefined;
    const executable = this.#createExecutable(
      plan,
      weights.filter((each) => each !== undefined),
    );
    const { inputNames, results, runBytes, checks } = plan;
    const restored = { executable, inputNames, results, runBytes, checks };
    this.#plans.set(inputTypes, restored);
    for (const check of checks) this.#checks.add(check);
    return restored;
  }

  #createExecutable(plan: KeptPlan, weights: readonly PackedWeights[]): Executable {
    const place = (where: KeptPlace): BufferRef =>
      "arena" in where
        ? { region: "arena", offset: where.arena }
        : { region: "weights", weights: at(weights, where.weights), byteOffset: where.byteOffset };
    const tensor = ({ type, place: where }: { readonly type: TensorRef["type"]; readonly place: KeptPlace }): TensorRef => ({
      type,
      buffer: place(where),
    });
    const runnable: RunnablePlan = {
      steps: plan.steps.map(({ id, kernel, operands, scratch, ...sizes }): PlanStep<KernelCall> => {
        const call = { ...at(plan.kernels, kernel), ...sizes };
        return { kind: "kernel", id, kernel: call, operands: operands.map(place), scratch };
      }),
      weights,
      ownWeights: weights.filter((_, index) => at(plan.weights, index).tensor === undefined),
      constants: plan.constants,
      arenaBytes: plan.arenaBytes,
      stateBytes: 0,
      inputs: plan.inputs.map(({ name, ...input }) => ({ name, ...tensor(input) })),
      outputs: plan.outputs.map(({ name, source }) => ({ name, source: "place" in source ? tensor(source) : source })),
    };
    return new Executable(runnable, this.#memory, (kernel, offsets, stride) => this.#threads.run(kernel, offsets, stride), {
      tally: this.#tally,
    });
  }

  /** Makes kernels callable. Returns whether all of them are. */
  #install({ keys, machineKernels, module: bytes }: KeptKernels): boolean {
    if (keys.every((key) => this.#kernels.has(key))) return true;
    const { machineCode } = this.#settings;
    const hasMachineCode = typeof machineCode !== "string";
    if (machineKernels > 0 && !hasMachineCode) return false;
    const object = machineKernels > 0 && hasMachineCode ? machineCode.cache?.read(keys) : undefined;
    if ((object?.kernels.length ?? 0) !== machineKernels) return false;
    const { memory } = this.#memory;
    try {
      const installed = object === undefined || !hasMachineCode ? [] : machineCode.installObject(object);
      const module =
        bytes === undefined ? new (wasmHost().Module)(emptyModule) : withOptimizingCompiler(() => new (wasmHost().Module)(bytes));
      const compiled = { module, functions: instantiateKernels(module, memory) };
      const all = hasMachineCode ? withInstalled(compiled, installed, memory, machineCode) : compiled;
      this.#threads.add(all);
      for (const key of all.functions.keys()) this.#kernels.add(key);
      for (const { key } of installed) this.#machineKernels.add(key);
      return keys.every((key) => this.#kernels.has(key));
    } catch (error) {
      if (error instanceof InferyardError && error.code === "BACKEND_UNAVAILABLE") return false;
      throw error;
    }
  }

  /** Opens the engine, which takes over from here. */
  async #openEngine(use: (engine: EngineModel) => Promise<void>): Promise<void> {
    const from = this.#share();
    const { replicaIds, index } = this.#replica;
    // In a group of replicas the engine takes the slot of this model, otherwise the second slot.
    const slot = { replicaIds, index: this.isSharing ? index : 1, from };
    await this.#settings.openEngine(slot, async (engine) => {
      this.#engine = engine;
      this.#plans.clear();
      await this.#threads.end();
      this.#freeMachineCode();
      if (!this.isSharing) this.#memory.close(); // the weights stay, which both share
      await use(engine);
    });
  }

  #share(): SharedEngineState {
    const { table } = this.#settings;
    const packed = new Map<number, PackedLocation[]>();
    for (const { tensor, location } of table.packed) {
      const weights = required(this.#weights.get(weightsKey(tensor, location.layout)), "the weights of a tensor");
      packed.set(tensor, [...(packed.get(tensor) ?? []), { ...location, start: this.#memory.pack(weights, true) }]);
    }
    return { ...this.#memory.share(), weights: table.weights, folds: table.folds, packed, modules: [] };
  }

  async dispose(): Promise<void> {
    await this.#mutex.runExclusive(async () => {
      this.#plans.clear();
      await this.#engine?.dispose();
      if (this.#engine === undefined) await this.#threads.end();
      this.#freeMachineCode();
      this.#memory.close();
    });
  }

  #freeMachineCode(): void {
    const { machineCode } = this.#settings;
    if (typeof machineCode !== "string") machineCode.free();
  }

  /** See `CompiledModel.describe`. */
  describe(): string {
    if (this.#engine !== undefined) return this.#engine.describe();
    const { all } = this.#lastSteps;
    return all === 0 ? "no executable yet" : `executable of ${all} steps: ${all} generated kernels, 0 interpreted`;
  }

  /** Facts about the code, as sentences without a full stop. */
  describeCode(): readonly string[] {
    if (this.#engine !== undefined) return this.#engine.describeCode();
    const functions = new Set([...this.#checks].map(functionOf));
    const { machineCode } = this.#settings;
    const { size } = this.#machineKernels;
    const machine =
      typeof machineCode === "string"
        ? `machine code: none, WebAssembly computes all kernels: ${machineCode}`
        : `machine code: ${size} of ${this.#kernels.size} kernels, up to ${machineCode.level}, ${size} of them from the cache on disk`;
    return [
      `kernel checks: ${describeChecks(functions.size, functions.size, this.#settings.checkedSince)}`,
      machine,
      "plans and packed weights: from the cache on disk",
    ];
  }
}

/** A module without functions. */
const emptyModule = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

function weightsKey(tensor: number, layout: string): string {
  return `${tensor} ${layout}`;
}

/** The source of weights whose elements are not known: each is another tensor. */
function noElements(): Literal {
  return { dataType: "uint8", shape: [0], data: new Uint8Array(0) };
}

function copy({ dataType, shape, data }: Literal): Tensor {
  return { dataType, shape, data: (data as Uint8Array).slice() } as Tensor;
}
