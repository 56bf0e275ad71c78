/** A model in memory: its primary instance, the replicas that share the work, and failover when a run fails. */
import type { Device, KernelCount, ProgramCounts } from "../../contract/backend.ts";
import { programsOfModels } from "../../contract/shapes/program-counts.ts";
import { abortable } from "../../concurrency/abortable.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { HostedLanguageModel, HostedModel, HostedRunOptions, HostedTensorModel } from "../../hosts/host.ts";
import { asLanguageModel, asTensorModel } from "../../hosts/host.ts";
import { countsOfModels } from "../../kernels/kernel-tally.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { type MemoryAmounts, heldMemory, machineMemory, addAmounts } from "../selection/memory-budget.ts";
import { boundedRun } from "../scheduling/bounded-run.ts";
import { InstanceHolds } from "./instance-holds.ts";
import { replicaMemory } from "./replica-count.ts";
import { PrimarySuspension } from "./primary-suspension.ts";
import { Replicas } from "./replicas.ts";
import type { VerifiedModel } from "../loading/loading.ts";
import type { Resident, MemoryBooking } from "./residency.ts";
import type { UnloadReason } from "../options/runtime-settings.ts";
import { RunScheduler } from "../scheduling/run-scheduler.ts";
import { formatTarget } from "../targets/target.ts";
import type { SchedulingKey } from "../scheduling/scheduling-key.ts";

/** Options of a resident model. */
export interface ResidentModelOptions {
  /** Number of single-threaded replicas; 0 or 1: none. */
  readonly replicas: number;
  /**
   * true: replicas are loaded at the first overlap of runs. false: they are loaded for bulk work only, and then also take
   * overlapping runs. Default: false.
   */
  readonly spreadOverlappingRuns?: boolean;
  /** Devices that each get a replica beside the primary instance, and which instance takes a run: the one with the least work, or each in turn. Default: none. */
  readonly devices?: { readonly others: readonly Device[]; readonly order: "least-work" | "in-turn" } | undefined;
  /** Maximum bytes of one run besides the weights; see `boundedRun`. Default: no limit. */
  readonly maxRunMemory?: number | undefined;
  /** Booking that is updated with measured memory and enlarged before replicas are loaded. Default: no budget. */
  readonly booking?: Pick<MemoryBooking, "grow" | "correct">;
  /** Loads the model on another target after a retryable failure. Default: no failover; the failure is thrown. */
  readonly failover?: (failed: VerifiedModel, failure: InferyardError, signal: AbortSignal) => Promise<VerifiedModel>;
  /** Called after the model was unloaded, with its last target. */
  readonly onDispose?: (target: string, reason: UnloadReason) => void;
}

/** A language model that a caller holds. */
export interface HeldLanguageModel {
  readonly loaded: VerifiedModel;
  readonly model: HostedLanguageModel;
  release(): void;
  /** Holds the same instance once more, until the returned function is called. */
  holdAgain(): () => void;
}

/** Changes of memory smaller than this are not reported to the booking. */
const reportThresholdBytes = 1e6;
/**
 * Maximum tokens of one part of a split run: about 0.1 s of a small encoder on two cores. Larger parts are hardly faster
 * (docs/decisions/0009).
 */
const partTokens = 512;

/**
 * Runs a loaded model on its primary instance or its replicas, and moves it to another target after a failure if failover is
 * on.
 */
export class ResidentModel implements Resident {
  readonly #options: ResidentModelOptions;
  #loaded: VerifiedModel;
  /** Runs in progress on the primary instance. */
  #running = 0;
  readonly #replicas: Replicas;
  readonly #suspension: PrimarySuspension;
  #replacement: Promise<VerifiedModel> | undefined;
  #reported = 0;
  #disposed = false;
  readonly #scheduler = new RunScheduler(() => this.#running > 0);
  readonly #holds = new InstanceHolds<VerifiedModel>();
  /** Instances that were replaced and are still in use. */
  readonly #retired = new Set<VerifiedModel>();
  /** Estimated memory of replicas on devices of their own. */
  readonly #needs = new WeakMap<HostedModel, MemoryAmounts>();
  /** Number of runs that went to the instances in turn. */
  #turns = 0;
  /** Aborts loads of replicas and failovers on disposal. */
  readonly #ending = new AbortController();

  constructor(loaded: VerifiedModel, options: ResidentModelOptions) {
    this.#loaded = loaded;
    this.#options = options;
    const others = options.devices?.others;
    const count = others?.length ?? (options.replicas < 2 ? 0 : options.replicas);
    this.#replicas = new Replicas({
      count: loaded.model.kind === "language" ? 0 : count,
      haveDevices: others !== undefined,
      load: async (index) => {
        const device = others?.[index];
        const settings = device === undefined ? { threads: 1 } : {};
        const model = asTensorModel(await this.#loaded.loadReplica(settings, this.#ending.signal, device));
        if (device !== undefined) this.#needs.set(model, this.#needOn(device));
        return model;
      },
      book: () => {
        const amounts =
          others?.map((device) => this.#needOn(device)) ?? Array.from({ length: count }, () => replicaMemory(this.#loaded));
        return options.booking?.grow(amounts.reduce(addAmounts)) !== false;
      },
      onChange: () => {
        this.#correctBooking();
        if (this.#replicas.models.length === 0) this.#suspension.stop();
        else if (options.spreadOverlappingRuns !== true && others === undefined) this.#suspension.watch(); // else the primary instance has its share of the work
      },
      beforeIdle: () => this.#suspension.resume(),
    });
    this.#suspension = new PrimarySuspension({
      primary: () => this.#loaded.model,
      running: () => this.#running,
      book: () => options.booking?.grow(heldMemory(this.#loaded.model.memory, this.#loaded.need)) !== false,
      onChange: () => this.#correctBooking(),
    });
    this.#report();
  }

  /** The primary instance. Failover replaces it. */
  get loaded(): VerifiedModel {
    return this.#loaded;
  }

  /** Whether it was unloaded. */
  get isDisposed(): boolean {
    return this.#disposed;
  }

  /** The primary instance, unless it is suspended, and the replicas. */
  get #instances(): readonly HostedModel[] {
    const { models } = this.#replicas;
    return this.#suspension.isSuspended && models.length > 0 ? models : [this.#loaded.model, ...models];
  }

  /** Memory of the primary instance and the replicas: measured if the engine or the host reports it, else estimated. */
  get heldMemory(): MemoryAmounts {
    const { need } = this.#loaded;
    const retired = [...this.#retired].map((each) => heldMemory(each.model.memory, each.need));
    const own = this.#instances.map((model) => heldMemory(model.memory, this.#needs.get(model) ?? need));
    return [...own, ...retired].reduce(addAmounts);
  }

  /** How often each kernel has run on the primary instance and the replicas; undefined if the engine does not know. See `ModelBase.kernelCounts`. */
  async kernelCounts(): Promise<readonly KernelCount[] | undefined> {
    return await countsOfModels(this.#instances);
  }

  /** Programs of the primary instance and the replicas; see `ModelBase.programs`. */
  get programs(): ProgramCounts | undefined {
    return programsOfModels(this.#instances);
  }

  /** How often a thread or process of the primary instance or a replica was replaced by another one. */
  get restarts(): number {
    return [this.#loaded.model, ...this.#replicas.models].reduce((sum, { restarts = 0 }) => sum + restarts, 0);
  }

  /**
   * Milliseconds since the current call began; with replicas the shortest such time, since that replica takes the next call. 0
   * if an instance is idle.
   */
  get runningMs(): number {
    return Math.min(...this.#instances.map(({ runningMs = 0 }) => runningMs));
  }

  /**
   * Runs the model. An idle primary instance takes the run, with all its threads; otherwise, or while it is suspended, the least loaded replica does, if
   * there are replicas. With failover, a retryable failure moves the model and the run is repeated once. `schedulingKey`: for
   * raw tensors from one of many clients. Under a limit `maxRunMemory`, a long run is then split into parts that are scheduled
   * fairly among clients, so that no client waits for longer than a part.
   */
  async run(inputs: TensorMap, options: HostedRunOptions = {}, schedulingKey?: SchedulingKey): Promise<TensorMap> {
    const runPart: HostedTensorModel["run"] = async (part, own = {}) => {
      this.#refuseDisposed();
      if (this.#options.devices !== undefined) return await this.#runOnDevices(part, own);
      const isIdle = this.#running === 0 && !this.#suspension.isSuspended;
      if (!isIdle && this.#options.spreadOverlappingRuns === true) void this.#replicas.load();
      return isIdle ? this.#runOnPrimary(part, own) : this.#runOnReplica(part, own);
    };
    if (schedulingKey === undefined || this.#options.maxRunMemory === undefined)
      return await this.#bounded(runPart, inputs, options);
    const schedulePart: HostedTensorModel["run"] = (part, own) => {
      const instances = this.#instances.length;
      return this.#scheduler.run(schedulingKey, instances, own?.signal, () => runPart(part, own));
    };
    return await this.#bounded(schedulePart, inputs, options, partTokens);
  }

  /** Announces that a client may run the model soon; long runs of other clients then yield to it. Call the returned function to withdraw. */
  holdFor(client: string): () => void {
    return this.#scheduler.hold(client);
  }

  #bounded(run: HostedTensorModel["run"], inputs: TensorMap, options: HostedRunOptions, maxTokens?: number): Promise<TensorMap> {
    const { model, variant, runMemory } = this.#loaded;
    return boundedRun(
      { model: asTensorModel(model), variant, runMemory },
      { memory: this.#options.maxRunMemory, tokens: maxTokens },
      run,
      inputs,
      options,
    );
  }

  /**
   * The language model, which is not freed before `release` is called, even if it is replaced meanwhile. Each call reports the memory that it holds to
   * the booking. Throws MODEL_UNSUPPORTED if it was loaded on tensors.
   */
  holdLanguage(): HeldLanguageModel {
    this.#refuseDisposed();
    this.#report();
    const loaded = this.#loaded;
    const model = asLanguageModel(loaded.model);
    return { loaded, model, release: this.#holds.hold(loaded), holdAgain: () => this.#holds.hold(loaded) };
  }

  /**
   * Makes `next` the primary instance of a language model. Callers that hold the previous one finish on it. The returned promise resolves when they have, and
   * the previous instance is freed. Throws DISPOSED.
   */
  replaceInstance(next: VerifiedModel): Promise<void> {
    this.#refuseDisposed();
    const previous = this.#loaded;
    this.#loaded = next;
    this.#retired.add(previous);
    return this.#retire(previous);
  }

  async #retire(previous: VerifiedModel): Promise<void> {
    // Where the model is unloaded meanwhile, its callers have lost both instances.
    await abortable(this.#holds.released(previous), this.#ending.signal).catch(() => {});
    try {
      await previous.model.dispose();
    } finally {
      this.#retired.delete(previous);
      this.#correctBooking();
    }
  }

  /**
   * Instances for bulk work, to be used in parallel: single-threaded replicas, whose total throughput exceeds that of one
   * instance with many threads. They are loaded at the first call, and again where they were idle and unloaded. Returns only the
   * model itself if replicas would not pay or do not load.
   */
  async replicas(): Promise<readonly Pick<HostedTensorModel, "run">[]> {
    this.#refuseDisposed();
    const count = await this.#replicas.load();
    if (count === 0) return [this];
    if (this.#options.devices !== undefined) return Array.from({ length: count + 1 }, () => this);
    const run: HostedTensorModel["run"] = async (inputs, options = {}) => {
      this.#refuseDisposed();
      await this.#replicas.load();
      return await this.#runOnReplica(inputs, options);
    };
    return Array.from({ length: count }, () => ({ run: (inputs, options = {}) => this.#bounded(run, inputs, options) }));
  }

  /**
   * Unloads the model and its replicas. `waitMs`: maximum wait for calls that have a caller, in milliseconds. Default: no
   * limit.
   */
  async dispose(reason: UnloadReason, waitMs?: number): Promise<void> {
    this.#disposed = true;
    this.#ending.abort();
    this.#suspension.stop();
    const replicas = this.#replicas.unload({ isFinal: true, waitMs }); // in parallel with the model itself, since each may need its time
    await this.#replacement?.catch(() => null); // its failure was thrown to the run that asked for it
    const instances = [this.#loaded, ...this.#retired].map(({ model }) => model.dispose({ waitMs }));
    await Promise.all([replicas, ...instances]);
    this.#options.onDispose?.(formatTarget(this.#loaded.target), reason);
  }

  async #runOnPrimary(inputs: TensorMap, options: HostedRunOptions): Promise<TensorMap> {
    const used = this.#loaded;
    this.#running += 1;
    this.#suspension.record("primary", false);
    try {
      return await asTensorModel(used.model).run(inputs, options);
    } catch (error) {
      if (!this.#shouldFailOver(error)) throw error;
      await this.#failOverFrom(used, error);
      return await asTensorModel(this.#loaded.model).run(inputs, options);
    } finally {
      this.#running -= 1;
      this.#report();
    }
  }

  #needOn(device: Device): MemoryAmounts {
    return this.#loaded.estimateOn?.(device) ?? this.#loaded.need;
  }

  /** Runs on the primary instance or on a replica on another device. */
  async #runOnDevices(inputs: TensorMap, options: HostedRunOptions): Promise<TensorMap> {
    await this.#replicas.load();
    const count = 1 + this.#replicas.models.length;
    if (this.#options.devices?.order === "in-turn") {
      const turn = this.#turns % count;
      this.#turns += 1;
      return turn === 0 ? await this.#runOnPrimary(inputs, options) : await this.#runOnReplica(inputs, options, turn - 1);
    }
    const isIdlest = this.#running <= this.#replicas.minRunning;
    return isIdlest ? await this.#runOnPrimary(inputs, options) : await this.#runOnReplica(inputs, options);
  }

  /** Runs on a replica, on the one with the number `index` if it is given; on the primary instance if there are none. */
  async #runOnReplica(inputs: TensorMap, options: HostedRunOptions, index?: number): Promise<TensorMap> {
    this.#refuseDisposed();
    if (this.#replicas.models.length === 0) return await this.#runOnPrimary(inputs, options);
    this.#suspension.record("replica", this.#replicas.running > 0);
    try {
      return await this.#replicas.run(inputs, options, index);
    } catch (error) {
      // The replica has died and is not restarted for now, or its file was changed. The primary instance may still work.
      const notBegun = error instanceof InferyardError && (error.code === "CIRCUIT_OPEN" || error.code === "MODEL_INVALID");
      if (!notBegun && !this.#shouldFailOver(error)) throw error;
      return await this.#runOnPrimary(inputs, options); // a failure of the primary instance triggers the failover
    } finally {
      this.#report();
    }
  }

  #shouldFailOver(error: unknown): error is InferyardError {
    return this.#options.failover !== undefined && error instanceof InferyardError && error.retryable;
  }

  async #failOverFrom(failed: VerifiedModel, failure: InferyardError): Promise<void> {
    if (this.#loaded !== failed) return; // another run has already moved it
    this.#replacement ??= this.#options.failover?.(failed, failure, this.#ending.signal);
    try {
      const replacement = await this.#replacement;
      if (replacement === undefined || this.#loaded === replacement) return;
      this.#loaded = replacement;
    } finally {
      this.#replacement = undefined; // the next failure starts a new search
    }
    this.#suspension.stop();
    await this.#replicas.unload();
    await failed.model.dispose();
  }

  #correctBooking(): void {
    if (!this.#disposed) this.#options.booking?.correct(this.heldMemory);
  }

  #report(): void {
    const { heldMemory } = this;
    const bytes = heldMemory[machineMemory] ?? 0;
    if (this.#disposed || Math.abs(bytes - this.#reported) < reportThresholdBytes) return;
    this.#reported = bytes;
    this.#options.booking?.correct(heldMemory);
  }

  #refuseDisposed(): void {
    if (this.#disposed) throw new InferyardError("DISPOSED", "this model was unloaded", { remedy: "load it again" });
  }
}
