/**
 * An optional extension of the backend contract: replicas of a model, on threads of one process, that share read-only memory
 * such as packed weights. A backend without it loads each replica by itself. Not published: hosts look for
 * `ReplicaBackend.loadReplica`, and the types may change with any version.
 */
import type { Backend, Device, LoadOptions, ModelFiles, TensorModel } from "./backend.ts";

/** A backend whose replicas of a model may share memory. */
export interface ReplicaBackend extends Backend {
  /**
   * As `load`, for one of several replicas. Without `slot.sharedState`, or with a state that does not fit, the model loads its own weights. Throws
   * MODEL_INVALID if the files differ from the files of the exporting replica.
   */
  loadReplica(model: ModelFiles, device: Device, options: LoadOptions, slot: ReplicaSlot): Promise<ReplicaModel>;
}

/** Whether a backend has the extension. */
export function sharesReplicas(backend: Backend): backend is ReplicaBackend {
  return "loadReplica" in backend && typeof backend.loadReplica === "function";
}

/**
 * State that one replica exports to another. A backend extends it with fields of its own, and reads them only from a state with its own name and version. Must
 * survive structured clone, since it is posted between threads.
 */
export interface SharedReplicaState {
  /** `Backend.name` of the exporting replica. */
  readonly backend: string;
  /** Version of the backend's code. The layout of memory may differ between versions. */
  readonly version: string;
}

/** Whether a received message has the fields that every exported state has. */
export function isSharedReplicaState(message: object): message is SharedReplicaState {
  const { backend, version } = message as Partial<SharedReplicaState>;
  return typeof backend === "string" && typeof version === "string";
}

/** The slot of a model among its replicas on threads of one process. */
export interface ReplicaSlot {
  /**
   * One 32-bit word for each slot, in memory shared by all threads: the replica's number, from 1, never reused; 0 as soon as
   * its thread has ended. Only the host writes it.
   */
  readonly liveReplicas: SharedArrayBuffer;
  /** Index of this model's word. The model in the first used slot counts shared memory as its own. */
  readonly index: number;
  /** Exported state of another replica. Undefined for the first replica, and if there was nothing to export. */
  readonly sharedState?: SharedReplicaState | undefined;
}

/** A loaded model that may share memory with its replicas. */
export interface ReplicaModel extends TensorModel {
  /** How the model shares memory with replicas; undefined if it shares nothing, for example because its files may still change. */
  readonly sharing?: ReplicaSharing | undefined;
}

/**
 * Offers the memory of a model to its replicas: models of the same files, on the same device, with the same settings except
 * `threads`.
 */
export interface ReplicaSharing {
  /** The state for `ReplicaSlot.sharedState` of another replica. Undefined: nothing to share yet. */
  exportState(): SharedReplicaState | undefined;
  /** Estimated bytes that another replica needs for itself. */
  readonly replicaBytes: number;
}
