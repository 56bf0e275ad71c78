/** How many replicas of a model share bulk work, and how much memory they need. */
import type { MachineFacts } from "../../contract/backend.ts";
import { type MemoryAmounts, machineMemory } from "../selection/memory-budget.ts";
import type { VerifiedModel } from "../loading/loading.ts";
import { weightBytes } from "../selection/variant-selection.ts";

/** Share of the available memory that replicas may take. */
const maxMemoryShare = 0.25;
/**
 * Bytes of an engine for each byte of weights (measured with MiniLM on onnxruntime 1.30: 1.4 after the load, 4 after long
 * batches).
 */
const bytesPerWeightByte = 4;
/** Bytes of a thread and the engine's executables in it (measured with MiniLM on our own engine, Node.js 20: 33 to 38 MB). */
const threadBytes = 40e6;
/** Ratio of the tokens of a bulk batch to the tokens of the batch that is prepared at load (512 to 128). */
const bulkBatchFactor = 4;
/** More replicas gain little, since they compete for memory bandwidth. */
const maxReplicas = 8;

/**
 * Number of replicas: one per thread, as memory permits. 1 if replicas could not run in parallel (inline host) or the model
 * runs on an accelerator.
 */
export function replicaCount(loaded: VerifiedModel, machine: MachineFacts, threads: number): number {
  const { target, variant, decision, need } = loaded;
  if (target.device.type !== "cpu" || decision.selected?.host === "inline") return 1;
  const perReplica = sharedReplicaBytes(loaded) ?? Math.max(weightBytes(variant) * bytesPerWeightByte, need[machineMemory] ?? 0);
  const allowed = Math.floor((machine.memory.available.value * maxMemoryShare) / Math.max(perReplica, 1));
  return Math.min(threads, allowed, maxReplicas);
}

/** Estimated memory of one more replica. Excludes the weights if replicas share them. */
export function replicaMemory(loaded: VerifiedModel): MemoryAmounts {
  const bytes = sharedReplicaBytes(loaded);
  return bytes === undefined ? loaded.need : { [machineMemory]: bytes };
}

function sharedReplicaBytes({ model: { replicaBytes } }: VerifiedModel): number | undefined {
  return replicaBytes === undefined ? undefined : threadBytes + bulkBatchFactor * replicaBytes;
}
