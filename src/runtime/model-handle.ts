/** One user's hold on a loaded model. */
import type { LoadedModel } from "../backend.ts";
import { InferyardError } from "../errors.ts";
import type { HostedModel, HostedRunOptions } from "../hosts/host.ts";
import type { Manifest } from "../models/manifest.ts";
import type { TensorInfo, TensorMap } from "../tensor.ts";
import type { Decision } from "./decision/decision.ts";
import type { ResidentModel } from "./residency/resident-model.ts";
import type { LeasedModel } from "./residency/shared-models.ts";
import { formatTarget } from "./selection/target.ts";
import { type SchedulingKey, defaultSchedulingKey } from "./scheduling/scheduling-key.ts";

export class ModelHandle {
  /** As it was loaded. */
  readonly reference: string;
  /** Whose work is done on it; means something where calls share batches. */
  readonly schedulingKey: SchedulingKey;
  readonly #held: LeasedModel;
  #released = false;

  constructor(reference: string, held: LeasedModel, turn: SchedulingKey = defaultSchedulingKey) {
    this.reference = reference;
    this.schedulingKey = turn;
    this.#held = held;
  }

  get manifest(): Manifest {
    return this.#resident.loaded.manifest;
  }

  /** Where it runs now, for example "onnx:cpu". */
  get target(): string {
    return formatTarget(this.#resident.loaded.target);
  }

  /** Why it runs there. */
  get decision(): Decision {
    return this.#held.decisionOf(this.#resident.loaded);
  }

  get inputs(): readonly TensorInfo[] {
    return this.#resident.loaded.model.inputs;
  }

  get outputs(): readonly TensorInfo[] {
    return this.#resident.loaded.model.outputs;
  }

  /** Memory of the first copy; see `TensorModel.memory`. */
  get memory(): LoadedModel["memory"] {
    return this.#resident.loaded.model.memory;
  }

  /** Time in milliseconds since the run under way began; 0 where the model is at rest, or on the calling thread. */
  get runningMs(): number {
    return this.#resident.runningMs;
  }

  /** Runs the model on raw tensors. */
  async run(inputs: TensorMap, options: HostedRunOptions = {}): Promise<TensorMap> {
    this.#refuseForeignReductions(options);
    return this.#resident.runScheduled(inputs, options, this.schedulingKey);
  }

  /** Models for bulk work, to be used side by side. */
  async replicas(): Promise<readonly Pick<HostedModel, "run">[]> {
    return this.#resident.replicas();
  }

  /** The model itself: the same object for everybody who holds it, for as long as it is in memory. */
  get model(): Pick<ResidentModel, "run" | "replicas"> {
    return this.#resident;
  }

  /** Gives the hold back. The model itself stays for `keepAlive`, so that the next load is quick. */
  async dispose(): Promise<void> {
    this.#released = true;
    this.#held.lease.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** Of an output that is not asked for, or that the model does not have. */
  #refuseForeignReductions({ outputs = this.outputs.map(({ name }) => name), reductions = {} }: HostedRunOptions): void {
    const foreign = Object.keys(reductions).find((name) => !outputs.includes(name));
    if (foreign === undefined) return;
    throw new InferyardError("INPUT_INVALID", `there is a reduction of "${foreign}", which is none of the outputs wanted`, {
      remedy: `the outputs are ${outputs.join(", ")}`,
    });
  }

  get #resident(): ResidentModel {
    if (this.#released)
      throw new InferyardError("DISPOSED", `this handle on ${this.reference} was disposed`, { remedy: "load it again" });
    return this.#held.lease.item;
  }
}
