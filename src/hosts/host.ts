/** Hosts: where a loaded model lives. All hosts have the same interface. */
import type {
  Backend,
  Device,
  LanguageModel,
  LoadOptions,
  ModelBase,
  ModelFiles,
  RunOptions,
  TensorModel,
} from "../contract/backend.ts";
import { unsupportedModel } from "../contract/errors.ts";
import type { HostName, ModelKind } from "./host-name.ts";
import type { OutputReduction } from "./output-reduction.ts";
import type { TensorMap } from "../contract/tensor.ts";
import type { ReplicaGroup } from "./replica-group.ts";
import type { Supervision } from "./supervision.ts";

/** Options of a run on a hosted model. */
export interface HostedRunOptions extends RunOptions {
  /**
   * Reductions by output name. The host applies them where the model lives, so that only the results are transferred. Default:
   * none.
   */
  readonly reductions?: Readonly<Record<string, OutputReduction>>;
}

/** Options of `HostedModel.dispose`. */
export interface DisposeOptions {
  /** Maximum wait for calls that have a caller, in milliseconds. Default: no limit. */
  readonly waitMs?: number | undefined;
}

/** A loaded model in a host. */
export type HostedModel = HostedTensorModel | HostedLanguageModel;

/** Members of hosted models of all kinds. */
export interface HostedModelBase extends Omit<ModelBase, "dispose"> {
  /** Estimated bytes of one more replica, its thread excluded. Undefined if replicas do not share memory. */
  readonly replicaBytes?: number | undefined;
  /** Milliseconds since the current call began; 0 if there is none. Undefined on the calling thread. */
  readonly runningMs?: number;
  /** How often its thread or process was replaced by another one. Undefined on the calling thread. */
  readonly restarts?: number;
  /**
   * Ends the thread or process after its current calls, so that its memory is free; `resume` or the next call starts another one, which loads the model again.
   * Sequences of a language model would be lost: such a model is not suspended. Undefined on the calling thread.
   */
  suspend?(): Promise<void>;
  /** Starts another thread or process if the model was suspended, and resolves when it has loaded the model. Throws as loading does. */
  resume?(): Promise<void>;
  /** Frees the model. A thread or process that needs more than a few seconds besides `waitMs` is killed, if that is safe. */
  dispose(options?: DisposeOptions): Promise<void>;
}

/** A model on tensors in a host. */
export interface HostedTensorModel extends HostedModelBase, Omit<TensorModel, keyof ModelBase | "run"> {
  run(inputs: TensorMap, options?: HostedRunOptions): Promise<TensorMap>;
}

/** A language model in a host. Its sequences are lost if its thread or process dies; calls for them then fail with HOST_DIED. */
export interface HostedLanguageModel extends HostedModelBase, Omit<LanguageModel, keyof ModelBase> {}

/** Loads models and runs them: on the calling thread, in worker threads, or in child processes. */
export interface Host {
  readonly name: HostName;
  /**
   * Loads a model as `kind`. `supervision`: is notified when the thread or process dies and permits each start; not used by "inline".
   * Default: none. `replicas`: the replicas of this model, which may share memory on threads of this process. Default: nothing
   * is shared.
   */
  load(
    kind: ModelKind,
    backend: Backend,
    model: ModelFiles,
    device: Device,
    options: LoadOptions,
    supervision?: Supervision,
    replicas?: ReplicaGroup,
  ): Promise<HostedModel>;
  /**
   * Starts a thread for the next load, so that it starts while the model's files are read. The returned function ends it unless a load has taken it. Default: threads are started by
   * loads.
   */
  prepare?(): () => void;
  /** Frees the resources of the host itself. Its models must be disposed before. */
  dispose(): Promise<void>;
}

/** The model, if it was loaded as one on tensors. Throws MODEL_UNSUPPORTED for a language model. */
export function asTensorModel(model: HostedModel): HostedTensorModel {
  if (model.kind === "tensor") return model;
  throw unsupportedModel(
    "the model was loaded to decode tokens, and does not run on tensors",
    'load it without kind: "language"',
  );
}

/** The model, if it was loaded as a language model. Throws MODEL_UNSUPPORTED otherwise. */
export function asLanguageModel(model: HostedModel): HostedLanguageModel {
  if (model.kind === "language") return model;
  throw unsupportedModel("the model was loaded to run on tensors, and does not decode tokens", 'load it with kind: "language"');
}
