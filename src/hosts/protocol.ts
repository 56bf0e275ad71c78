/**
 * The protocol between a host and its peer (a worker thread or a child process). One call is in progress at a time; each answer
 * carries the number of its call.
 */
import type {
  BackendEntry,
  Device,
  KernelCount,
  LanguageModel,
  LanguageModelLimits,
  Library,
  LoadLimits,
  LoadSettings,
  LoadedModel,
  ProgramCounts,
  ModelFiles,
} from "../contract/backend.ts";
import type { ModelKind } from "./host-name.ts";
import type { SerializedError } from "../contract/errors.ts";
import type { ReplicaSlot, SharedReplicaState } from "../contract/replicas.ts";
import type { OutputReduction } from "./output-reduction.ts";
import type { TensorInfo, TensorMap } from "../contract/tensor.ts";

/** A call of a host to its peer. */
export type Call =
  | {
      readonly operation: "load";
      readonly kind: ModelKind;
      readonly entry: BackendEntry;
      readonly model: ModelFiles;
      readonly device: Device;
      readonly settings: LoadSettings & LoadLimits;
      /** Slot among the replicas. `sharedState`: a port on which another replica's state arrives. */
      readonly replica?: Pick<ReplicaSlot, "liveReplicas" | "index"> & { readonly sharedState?: PeerPort };
    }
  | {
      readonly operation: "run";
      readonly inputs: TensorMap;
      readonly outputs?: readonly string[];
      readonly reductions?: Readonly<Record<string, OutputReduction>>;
    }
  /** Calls a method of a language model. */
  | { readonly operation: "language"; readonly call: LanguageCall }
  | { readonly operation: "evidence" }
  | { readonly operation: "kernelCounts" }
  /** Posts the model's shared state to the port. Returns whether there was any. */
  | { readonly operation: "export"; readonly port: PeerPort }
  | { readonly operation: "dispose" };

/** A call of a method of `LanguageModel`, without a signal: an aborted call is dropped while it waits, and its result afterwards. */
export type LanguageCall = {
  readonly [Method in keyof LanguageResults]: {
    readonly method: Method;
    readonly arguments: Parameters<Required<LanguageModel>[Method]>;
  };
}[keyof LanguageResults];

/** The result of each method, by its name. */
export type LanguageResults = {
  readonly [
    Method in
      | "createSequence"
      | "decode"
      | "forkSequence"
      | "truncateSequence"
      | "saveSequence"
      | "restoreSequence"
      | "crossAttention"
      | "releaseSequence"
  ]: Awaited<ReturnType<Required<LanguageModel>[Method]>>;
};

/**
 * One end of a channel between two peers. The state that "export" posts to one end is received at the other. Ports are
 * transferred, not copied.
 */
export interface PeerPort {
  postMessage(state: SharedReplicaState): void;
  close(): void;
}

/** A call as it is sent. */
export type CallMessage = Call & { readonly number: number };

/** The result of each operation, by its name. */
export interface Results {
  readonly load: ModelDescription;
  readonly run: TensorMap;
  readonly language: LanguageResults[keyof LanguageResults];
  readonly evidence: readonly string[];
  readonly kernelCounts: readonly KernelCount[];
  readonly export: boolean;
  readonly dispose: null;
}

/** The answer to a call: its result, or the serialized error. */
export type AnswerMessage = {
  readonly number: number;
  /** Memory that the peer holds now, if it knows. */
  readonly memory?: LoadedModel["memory"];
  /** See `ModelBase.programs`. */
  readonly programs?: ProgramCounts | undefined;
} & ({ readonly ok: true; readonly result: Results[keyof Results] } | { readonly ok: false; readonly error: SerializedError });

/** Description of a model that lives in a peer. */
export type ModelDescription = TensorModelDescription | LanguageModelDescription;

interface BaseDescription {
  readonly library: Library;
  readonly memory: LoadedModel["memory"];
  readonly replicaBytes?: number | undefined;
  /** Whether it has `ModelBase.kernelCounts`. */
  readonly countsKernels: boolean;
}

/** Description of a model on tensors. */
export interface TensorModelDescription extends BaseDescription {
  readonly kind: "tensor";
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
}

/** Description of a language model. */
export interface LanguageModelDescription extends BaseDescription {
  readonly kind: "language";
  readonly limits: LanguageModelLimits;
  /** Whether it has `LanguageModel.saveSequence` and `restoreSequence`. */
  readonly savesSequences: boolean;
  /** Whether it has `LanguageModel.crossAttention`. */
  readonly readsCrossAttention: boolean;
}

/** Data that a new worker thread is started with. */
export interface WorkerData {
  readonly gate: SharedArrayBuffer;
}

/** The ports in a message, for the transfer list. */
export function getPorts(message: Call): readonly PeerPort[] {
  if (message.operation === "export") return [message.port];
  return message.operation === "load" && message.replica?.sharedState !== undefined ? [message.replica.sharedState] : [];
}
