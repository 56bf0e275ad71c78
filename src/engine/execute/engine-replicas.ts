/** What replicas of a model on threads of one process share: see decision 0013. */
import type { WasmModule } from "../codegen/wasm/index.ts";
import type { FoldingSnapshot } from "../build/constant-folding-cache.ts";
import type { PackedLocation, SharedMemoryHandle } from "../memory/engine-memory.ts";
import type { ReplicaIds } from "../memory/region-table.ts";

/** The slot of a model among its replicas. */
/** The ids of all replicas, by slot. */
export interface EngineReplica {
  readonly replicaIds: ReplicaIds;
  /** Slot of this replica. The first slot accounts for the memory that all share. */
  readonly index: number;
  /** State exported by another replica of the same model with the same settings except threads. Default: none, so weights are packed anew. */
  readonly from?: SharedEngineState;
}

/** What a replica needs to use the weights of another one. Can be posted to another thread. */
export interface SharedEngineState extends SharedMemoryHandle {
  /** Data type and shape of each of the model's own tensors; the new replica must have the same. */
  /** Constants folded so far. */
  readonly weights: readonly string[];
  readonly folds: FoldingSnapshot;
  /** Locations of packed weights, by the id of the tensor in the constant-folding cache. */
  /** Compiled modules, each with the keys of its kernels. */
  readonly packed: ReadonlyMap<number, readonly PackedLocation[]>;
  readonly modules: readonly { readonly module: WasmModule; readonly keys: readonly string[] }[];
}
