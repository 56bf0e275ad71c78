/** A handle on a loaded model. */
import type { KernelCount, LoadedModel } from "../contract/backend.ts";
import { asLanguageModel, asTensorModel } from "../hosts/host.ts";
import { InferyardError, invalidInput } from "../contract/errors.ts";
import type { HostedLanguageModel, HostedRunOptions, HostedTensorModel } from "../hosts/host.ts";
import type { ModelKind } from "../hosts/host-name.ts";
import type { Manifest } from "../models/manifest.ts";
import type { TensorInfo, TensorMap } from "../contract/tensor.ts";
import type { Decision } from "./decision/decision.ts";
import { type HandleLanguageModel, HandleSequences } from "./handle-sequences.ts";
import type { ResidentModel } from "./residency/resident-model.ts";
import type { LeasedModel } from "./residency/shared-models.ts";
import { formatTarget } from "./targets/target.ts";
import { type SchedulingKey, defaultSchedulingKey } from "./scheduling/scheduling-key.ts";

/** A language model for the time of one call. */
export interface HeldLanguage {
  readonly model: HostedLanguageModel;
  readonly target: string;
  readonly decision: Decision;
  release(): void;
}

/**
 * A loaded model that the caller holds. It stays in memory until every handle on it is disposed. All members but `dispose`
 * throw DISPOSED afterwards.
 */
export class ModelHandle {
  /** The reference that it was loaded by. */
  readonly reference: string;
  /** The client whose work runs on it; used by shared batches and by `run`. */
  readonly schedulingKey: SchedulingKey;
  readonly #lease: LeasedModel;
  readonly #unhold: () => void;
  #sequences: HandleSequences | undefined;
  #released = false;

  constructor(reference: string, lease: LeasedModel, schedulingKey: SchedulingKey = defaultSchedulingKey) {
    this.reference = reference;
    this.schedulingKey = schedulingKey;
    this.#lease = lease;
    this.#unhold = lease.lease.item.holdFor(schedulingKey.client);
  }

  /** The model's manifest. */
  get manifest(): Manifest {
    return this.#resident.loaded.manifest;
  }

  /** Target that it runs on now, for example "onnx:cpu". */
  get target(): string {
    return formatTarget(this.#resident.loaded.target);
  }

  /** The decision that led to this target. */
  get decision(): Decision {
    return this.#lease.getDecision(this.#resident.loaded);
  }

  /** Names, data types and shapes of the inputs. Throws MODEL_UNSUPPORTED for a model that was loaded with `kind: "language"`. */
  get inputs(): readonly TensorInfo[] {
    return asTensorModel(this.#resident.loaded.model).inputs;
  }

  /** Names, data types and shapes of the outputs that are tensors. */
  get outputs(): readonly TensorInfo[] {
    return asTensorModel(this.#resident.loaded.model).outputs;
  }

  /** Interface under which it was loaded: the option `kind` of the load. */
  get kind(): ModelKind {
    return this.#resident.loaded.model.kind;
  }

  /**
   * The language model: sequences, tokens in and logits out. Throws MODEL_UNSUPPORTED unless it was loaded with `kind: "language"`. It is disposed with
   * the model, not by its own `dispose`. A sequence that exists while the library is reloaded stays on the old one until it is released.
   */
  get language(): HandleLanguageModel {
    asLanguageModel(this.#resident.loaded.model);
    this.#sequences ??= new HandleSequences(() => this.#resident.holdLanguage());
    return this.#sequences;
  }

  /** The language model for one call, and the decision that placed it. It is not freed before `release` is called, even if the library is reloaded. */
  holdLanguage(): HeldLanguage {
    const { loaded, model, release } = this.#resident.holdLanguage();
    return { model, target: formatTarget(loaded.target), decision: this.#lease.getDecision(loaded), release };
  }

  /** Memory of the primary instance; see `TensorModel.memory`. */
  get memory(): LoadedModel["memory"] {
    return this.#resident.loaded.model.memory;
  }

  /** Milliseconds since the current run began. 0 if the model is idle or runs on the calling thread. */
  get runningMs(): number {
    return this.#resident.runningMs;
  }

  /**
   * How often each kernel has run since the model was loaded, including replicas: the engine's own count, see `ModelBase.kernelCounts`. Undefined if the engine
   * does not know its kernels.
   */
  async kernelCounts(): Promise<readonly KernelCount[] | undefined> {
    return this.#resident.kernelCounts();
  }

  /** Programs that a compiler made for the model since it was loaded, replicas included; see `ModelBase.programs`. */
  get programs(): LoadedModel["programs"] {
    return this.#resident.programs;
  }

  /**
   * Runs the model on tensors by input name. Throws INPUT_INVALID for tensors that do not fit the inputs and for a reduction of
   * an output that is not computed.
   */
  async run(inputs: TensorMap, options: HostedRunOptions = {}): Promise<TensorMap> {
    this.#refuseUnknownReductions(options);
    return this.#resident.run(inputs, options, this.schedulingKey);
  }

  /** Instances for bulk work, to be used in parallel: single-threaded replicas, or the model alone. */
  async replicas(): Promise<readonly Pick<HostedTensorModel, "run">[]> {
    return this.#resident.replicas();
  }

  /** The resident model: the same object for all handles on it, for as long as it is in memory. */
  get model(): Pick<ResidentModel, "run" | "replicas"> {
    return this.#resident;
  }

  /**
   * Sets how long the model stays in memory when it is unused, in milliseconds, instead of the setting `keepAlive`: 0 unloads it as soon as it is unused,
   * Infinity keeps it until it is unloaded by name or evicted for memory. The last call applies, for all users of the model, until it is unloaded. Without
   * effect on models of strategy "eager" or "pinned". Throws INPUT_INVALID for a negative number.
   */
  setKeepAlive(milliseconds: number): void {
    if (!(milliseconds >= 0)) {
      throw invalidInput(`a keep-alive of ${milliseconds} ms is not possible`, "give 0 or more milliseconds, or Infinity");
    }
    this.#held.lease.setKeepAlive(milliseconds);
  }

  /** Releases the handle. The model itself stays for `keepAlive`, so that the next load is fast. */
  async dispose(): Promise<void> {
    if (!this.#released) this.#unhold();
    this.#released = true;
    this.#sequences?.releaseAll();
    this.#lease.lease.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** Throws INPUT_INVALID for a reduction of an output that is not requested or that the model does not have. */
  #refuseUnknownReductions({ outputs = this.outputs.map(({ name }) => name), reductions = {} }: HostedRunOptions): void {
    const unknown = Object.keys(reductions).find((name) => !outputs.includes(name));
    if (unknown === undefined) return;
    throw invalidInput(
      `there is a reduction of "${unknown}", which is not among the requested outputs`,
      `the outputs are ${outputs.join(", ")}`,
    );
  }

  get #resident(): ResidentModel {
    return this.#held.lease.item;
  }

  /** The lease. Throws DISPOSED if the handle was released. */
  get #held(): LeasedModel {
    if (this.#released)
      throw new InferyardError("DISPOSED", `this handle on ${this.reference} was disposed`, { remedy: "load it again" });
    return this.#lease;
  }
}
