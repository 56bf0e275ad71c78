/** How many copies of a model share bulk work. */
import type { MachineFacts } from "../backend.ts";
import { machineMemory } from "./budget.ts";
import type { Loaded } from "./loading.ts";

/** Copies may take this share of the memory that is available. */
const shareOfMemory = 0.25;
/** An engine holds about this much for every byte of weights (measured: MiniLM, onnxruntime 1.30, 1.4 after load, 4 after long batches). */
const bytesPerWeightByte = 4;
/** More copies than this gain little: they compete for the memory bus. */
const mostCopies = 8;

/**
 * One copy per free core, as memory allows; 1 where copies would not run side by side (on the calling thread) or the engine's threads
 * already do as well (not a CPU).
 */
export function copiesFor({ target, variant, decision, need }: Loaded, machine: MachineFacts, threads: number): number {
  if (target.device.type !== "cpu" || decision.selected?.host === "inline") return 1;
  const perCopy = Math.max(variant.bytes * bytesPerWeightByte, need[machineMemory] ?? 0);
  const allowed = Math.floor((machine.memory.available.value * shareOfMemory) / Math.max(perCopy, 1));
  return Math.min(threads, allowed, mostCopies);
}
