/** What copies of a model on the threads of one process give each other: see decision 0013. */
import type { WasmModule } from "../codegen/wasm/index.ts";
import type { FoldingSnapshot } from "../build/constant-folding-cache.ts";
import type { PackedLocation, SharedMemoryHandle } from "../memory/engine-memory.ts";
import type { ReplicaIds } from "../memory/region-table.ts";

/** The copies of a model on the threads of this process. */
export interface EngineReplica {
  readonly replicaIds: ReplicaIds;
  /** Which of the members this one is; the first one counts what all share as its own. */
  readonly index: number;
  /** What another copy of the very same model gave, with the same settings but threads. Default: there is none, or it cannot be reached. */
  readonly from?: SharedEngineState;
}

/** What a copy needs of another one, to hold no weights of its own. Survives being posted to another thread. */
export interface SharedEngineState extends SharedMemoryHandle {
  /** Types and shapes of the model's own tensors: those of a copy must be the same. */
  readonly weights: readonly string[];
  readonly folds: FoldingSnapshot;
  /** Where packed weights lie, by the numbers of their tensors. All of them are whole. */
  readonly packed: ReadonlyMap<number, readonly PackedLocation[]>;
  readonly modules: readonly { readonly module: WasmModule; readonly keys: readonly string[] }[];
}
