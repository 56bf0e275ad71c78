/** State shared by replicas of one model that run on different threads of a process. See decision 0013. */
import type { WasmModule } from "../codegen/wasm/index.ts";
import type { MachineObject } from "../codegen/x64/index.ts";
import type { FoldingSnapshot } from "../build/constant-folding-cache.ts";
import type { PackedLocation, SharedMemoryHandle } from "../memory/engine-memory.ts";
import type { ReplicaIds } from "../memory/region-table.ts";

/** Identifies a model among the replicas that share its memory. */
export interface EngineReplica {
  /** The ids of all replicas, by slot. */
  readonly replicaIds: ReplicaIds;
  /** Slot of this replica. Memory shared by all replicas is attributed to slot 0. */
  readonly index: number;
  /** State exported by another replica of the same model with the same settings except threads. Default: none, so weights are packed from the files. */
  readonly from?: SharedEngineState;
}

/** The state with which a new replica reuses the packed weights and compiled kernels of another one. Can be posted to another thread. */
export interface SharedEngineState extends SharedMemoryHandle {
  /** Data type and shape of each of the model's own tensors; the new replica must have the same. */
  readonly weights: readonly string[];
  /** Results of constant folding. */
  readonly folds: FoldingSnapshot;
  /** Locations of packed weights, by the id of the tensor in the constant-folding cache. */
  readonly packed: ReadonlyMap<number, readonly PackedLocation[]>;
  /** Compiled modules, each with the machine code of the kernels that were compiled with it. */
  readonly modules: readonly {
    readonly module: WasmModule;
    readonly machineObject: MachineObject | undefined;
  }[];
}
