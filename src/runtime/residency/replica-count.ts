/** How many copies of a model share bulk work, and what they take. */
import type { MachineFacts } from "../../backend.ts";
import { type MemoryAmounts, machineMemory } from "./memory-budget.ts";
import type { VerifiedModel } from "../loading/loading.ts";

/** Copies may take this share of the memory that is available. */
const maxMemoryShare = 0.25;
/** An engine holds about this much for every byte of weights (measured: MiniLM, onnxruntime 1.30, 1.4 after load, 4 after long batches). */
const bytesPerWeightByte = 4;
/** A thread and the engine's programs in it (measured: MiniLM on our own engine, Node.js 20, 33 to 38 MB). */
const threadBytes = 40e6;
/** A batch of bulk work is about so many times as large as what is made ready at load: 512 tokens to 128. */
const bulkBatchFactor = 4;
/** More copies than this gain little: they compete for the memory bus. */
const maxReplicas = 8;

/**
 * One copy per free core, as memory allows; 1 where copies would not run side by side (on the calling thread) or the engine's threads
 * already do as well (not a CPU).
 */
export function replicaCount(loaded: VerifiedModel, machine: MachineFacts, threads: number): number {
  const { target, variant, decision, need } = loaded;
  if (target.device.type !== "cpu" || decision.selected?.host === "inline") return 1;
  const perCopy = sharedReplicaBytes(loaded) ?? Math.max(variant.bytes * bytesPerWeightByte, need[machineMemory] ?? 0);
  const allowed = Math.floor((machine.memory.available.value * maxMemoryShare) / Math.max(perCopy, 1));
  return Math.min(threads, allowed, maxReplicas);
}

/** What one more copy of the model is estimated to take: no weights where copies share them. */
export function replicaMemory(loaded: VerifiedModel): MemoryAmounts {
  const bytes = sharedReplicaBytes(loaded);
  return bytes === undefined ? loaded.need : { [machineMemory]: bytes };
}

function sharedReplicaBytes({ model: { replicaBytes } }: VerifiedModel): number | undefined {
  return replicaBytes === undefined ? undefined : threadBytes + bulkBatchFactor * replicaBytes;
}
