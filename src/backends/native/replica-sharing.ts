/** What replicas of a model of this backend share. */
import type { LoadSettings } from "../../contract/backend.ts";
import type { ReplicaSharing, SharedReplicaState } from "../../contract/replicas.ts";
import type { EngineModel } from "../../engine/execute/engine-model.ts";
import type { SharedEngineState } from "../../engine/execute/engine-replicas.ts";
import { version } from "../../version.ts";

/** Exported state of a model of this backend for its replicas. `version`: the version of the package. */
export interface NativeReplicaState extends SharedReplicaState {
  readonly backend: "native";
  /** Identity of the model's files; see `OpenModelFiles`. */
  readonly identity: string;
  /** The setting of the exporting replica; replicas must have the same. */
  readonly graphOptimization: string | undefined;
  /** Packed weights and their memory, as the engine exports them. */
  readonly engine: SharedEngineState;
}

/** How replicas share weights with a model that was loaded from files of this identity. Undefined: they do not. */
export function getSharing(
  engine: Pick<EngineModel, "isSharing" | "arenaBytes" | "exportState">,
  identity: string | undefined,
  { graphOptimization }: LoadSettings,
): ReplicaSharing | undefined {
  if (!engine.isSharing || identity === undefined || engine.arenaBytes === 0) return undefined; // without an executable no weights are packed
  return {
    exportState: (): NativeReplicaState | undefined => {
      const shared = engine.exportState();
      return shared && { backend: "native", version, identity, graphOptimization, engine: shared };
    },
    replicaBytes: engine.arenaBytes,
  };
}
