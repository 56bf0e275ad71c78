/** A model in memory: its first copy, the copies that share the work, and what happens when it fails while running. */
import { InferyardError } from "../../errors.ts";
import type { HostedModel, HostedRunOptions } from "../../hosts/host.ts";
import type { TensorMap } from "../../tensor.ts";
import { type MemoryAmounts, heldMemory, machineMemory, addAmounts } from "./memory-budget.ts";
import { boundedRun } from "../scheduling/bounded-run.ts";
import { replicaMemory } from "./replica-count.ts";
import { Dispatcher } from "../scheduling/dispatcher.ts";
import type { VerifiedModel } from "../loading/loading.ts";
import type { UnloadReason, Resident, MemoryBooking } from "./residency.ts";
import { RunScheduler } from "../scheduling/run-scheduler.ts";
import { formatTarget } from "../selection/target.ts";
import type { SchedulingKey } from "../scheduling/scheduling-key.ts";

export interface ResidentModelOptions {
  /** Copies with one thread each that share the work; 0 or 1 = none. */
  readonly replicas: number;
  /**
   * Whether runs that overlap are spread over copies from the first overlap on. Else copies are loaded for bulk work only, and take part
   * in everything once they are there. Default: false.
   */
  readonly spreadOverlappingRuns?: boolean;
  /** Bytes one run may take beside the weights: see `boundedRun`. Default: no limit. */
  readonly maxRunMemory?: number | undefined;
  /** Told what the model and its copies hold, and asked before copies are loaded. Default: nothing is limited. */
  readonly booking?: Pick<MemoryBooking, "grow" | "correct">;
  /** Left out: a failed run is the caller's to repeat. Else: finds the model another place after this failure. */
  readonly failover?: (failed: VerifiedModel, failure: InferyardError, signal: AbortSignal) => Promise<VerifiedModel>;
  /** Told where it was and why it left, when it has left memory. */
  readonly onDispose?: (target: string, departure: UnloadReason) => void;
}

interface ReplicaSet {
  readonly models: readonly HostedModel[];
  readonly dispatcher: Dispatcher;
}

/** Smaller changes of memory than this are not worth a look. */
const reportThresholdBytes = 1e6;
/** Tokens of one part of a long run: about 0.1 s of a small encoder on two cores. Larger parts are hardly faster (docs/decisions/0009). */
const partTokens = 512;

export class ResidentModel implements Resident {
  readonly #options: ResidentModelOptions;
  #loaded: VerifiedModel;
  /** Runs given to the first copy that have not ended. */
  #running = 0;
  #loadingReplicas: Promise<ReplicaSet | undefined> | undefined;
  #replicas: ReplicaSet | undefined;
  #replacement: Promise<VerifiedModel> | undefined;
  #reported = 0;
  #disposed = false;
  readonly #scheduler = new RunScheduler();
  /** Ends loads under way. */
  readonly #ending = new AbortController();

  constructor(loaded: VerifiedModel, options: ResidentModelOptions) {
    this.#loaded = loaded;
    this.#options = options;
    this.#report();
  }

  /** What is loaded now; changes when a failover moves the model. */
  get loaded(): VerifiedModel {
    return this.#loaded;
  }

  /** What the model and its copies hold now: measured where the engine or the host can, else estimated. */
  get heldMemory(): MemoryAmounts {
    const { need, model } = this.#loaded;
    return [model, ...(this.#replicas?.models ?? [])].map(({ memory }) => heldMemory(memory, need)).reduce(addAmounts);
  }

  /** Time in milliseconds since the call under way began; of copies the shortest, since they take the next call. 0 where it is at rest. */
  get runningMs(): number {
    return Math.min(...[this.#loaded.model, ...(this.#replicas?.models ?? [])].map(({ runningMs = 0 }) => runningMs));
  }

  /**
   * Runs once, and once more elsewhere where failover is on and the failure may pass. A run that finds the first copy at rest has it, with
   * all its threads; others go to the copy with the least to do, where there are copies.
   */
  async run(inputs: TensorMap, options: HostedRunOptions = {}): Promise<TensorMap> {
    return await this.#bounded((part, own = {}) => this.#runWhole(part, own), inputs, options);
  }

  /**
   * As `run`, for tensors of any size from one of many clients: a long run is split into parts that take turns with the runs of others, so that
   * none waits for longer than a part. Without `maxRunMemory` nothing is split, and runs begin as they come.
   */
  async runScheduled(inputs: TensorMap, options: HostedRunOptions, turn: SchedulingKey): Promise<TensorMap> {
    if (this.#options.maxRunMemory === undefined) return await this.run(inputs, options);
    const run: HostedModel["run"] = (part, own = {}) => {
      const replicas = 1 + (this.#replicas?.models.length ?? 0);
      return this.#scheduler.run(turn, replicas, own.signal, () => this.#runWhole(part, own));
    };
    return await this.#bounded(run, inputs, options, partTokens);
  }

  #bounded(run: HostedModel["run"], inputs: TensorMap, options: HostedRunOptions, maxTokens?: number): Promise<TensorMap> {
    return boundedRun(this.#loaded, { memory: this.#options.maxRunMemory, tokens: maxTokens }, run, inputs, options);
  }

  async #runWhole(inputs: TensorMap, options: HostedRunOptions): Promise<TensorMap> {
    this.#refuseDisposed();
    if (this.#running === 0) return this.#runOnPrimary(inputs, options);
    if (this.#options.spreadOverlappingRuns === true) void this.#replicasOnce();
    return this.#replicas === undefined
      ? this.#runOnPrimary(inputs, options)
      : this.#runOnReplica(this.#replicas, inputs, options);
  }

  /**
   * Models for bulk work, to be used side by side: copies with one thread each, which together beat one copy with many threads. They are
   * loaded at the first call. Falls back to the one model where copies do not pay or do not load.
   */
  async replicas(): Promise<readonly Pick<HostedModel, "run">[]> {
    this.#refuseDisposed();
    const copies = await this.#replicasOnce();
    if (copies === undefined) return [this];
    const run: HostedModel["run"] = (inputs, options = {}) => this.#runOnReplica(copies, inputs, options);
    return copies.models.map(() => ({ run: (inputs, options = {}) => this.#bounded(run, inputs, options) }));
  }

  /** `waitMs`: longest wait for calls that have a caller. Default: as long as they take. */
  async dispose(departure: UnloadReason, waitMs?: number): Promise<void> {
    this.#disposed = true;
    this.#ending.abort();
    const copies = this.#disposeReplicas(waitMs); // beside the model itself: each may need its time
    await this.#replacement?.catch(() => null); // its failure went to the run that asked for it
    await Promise.all([copies, this.#loaded.model.dispose({ waitMs })]);
    this.#options.onDispose?.(formatTarget(this.#loaded.target), departure);
  }

  async #runOnPrimary(inputs: TensorMap, options: HostedRunOptions): Promise<TensorMap> {
    const used = this.#loaded;
    this.#running += 1;
    try {
      return await used.model.run(inputs, options);
    } catch (error) {
      if (!this.#shouldFailOver(error)) throw error;
      await this.#failOverFrom(used, error);
      return await this.#loaded.model.run(inputs, options);
    } finally {
      this.#running -= 1;
      this.#report();
    }
  }

  async #runOnReplica(copies: ReplicaSet, inputs: TensorMap, options: HostedRunOptions): Promise<TensorMap> {
    this.#refuseDisposed();
    try {
      return await copies.dispatcher.run(inputs, options);
    } catch (error) {
      // The copy is dead, and is not loaded again for now, or because its file was changed; the first one may be alive.
      const notBegun = error instanceof InferyardError && (error.code === "CIRCUIT_OPEN" || error.code === "MODEL_INVALID");
      if (!notBegun && !this.#shouldFailOver(error)) throw error;
      return await this.#runOnPrimary(inputs, options); // and when that fails the same way, the model moves
    } finally {
      this.#report();
    }
  }

  #shouldFailOver(error: unknown): error is InferyardError {
    return this.#options.failover !== undefined && error instanceof InferyardError && error.retryable;
  }

  /** Undefined where there are none, or not enough memory for all of them: the one model does the work then. */
  #replicasOnce(): Promise<ReplicaSet | undefined> {
    this.#loadingReplicas ??= this.#loadReplicas();
    return this.#loadingReplicas;
  }

  async #loadReplicas(): Promise<ReplicaSet | undefined> {
    const { replicas: count, booking } = this.#options;
    if (count < 2) return undefined;
    const extra = Array.from({ length: count }, () => replicaMemory(this.#loaded)).reduce(addAmounts);
    if (booking?.grow(extra) === false) return undefined;
    const loads = Array.from({ length: count }, () => this.#loaded.loadReplica({ threads: 1 }, this.#ending.signal));
    const settled = await Promise.allSettled(loads);
    const models = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    if (models.length === count && !this.#disposed) {
      this.#replicas = { models, dispatcher: new Dispatcher(models) };
    } else {
      await Promise.all(models.map((copy) => copy.dispose()));
    }
    booking?.correct(this.heldMemory); // in place of what was booked
    return this.#replicas;
  }

  async #failOverFrom(failed: VerifiedModel, failure: InferyardError): Promise<void> {
    if (this.#loaded !== failed) return; // another run has moved it already
    this.#replacement ??= this.#options.failover?.(failed, failure, this.#ending.signal);
    try {
      const replacement = await this.#replacement;
      if (replacement === undefined || this.#loaded === replacement) return;
      this.#loaded = replacement;
    } finally {
      this.#replacement = undefined; // found or not: the next failure looks anew
    }
    await this.#disposeReplicas();
    await failed.model.dispose();
  }

  async #disposeReplicas(waitMs?: number): Promise<void> {
    const copies = await this.#loadingReplicas;
    this.#loadingReplicas = undefined;
    this.#replicas = undefined;
    await Promise.all((copies?.models ?? []).map((copy) => copy.dispose({ waitMs })));
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
