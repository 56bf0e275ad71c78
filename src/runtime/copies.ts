/** How many copies of a model share bulk work. */
import type { MachineFacts } from "../backend.ts";
import type { Loaded } from "./loading.ts";

/** Copies may take this share of the memory that is available. */
const shareOfMemory = 0.25;
/** An engine holds about this much for every byte of weights (measured: MiniLM, onnxruntime 1.30, 1.4 after load, 4 after long batches). */
const bytesPerWeightByte = 4;
/** More copies than this gain little: they compete for the memory bus. */
const mostCopies = 8;

/** One copy per free core, as memory allows; 1 where the engine's threads already do as well (not a CPU, not blocking). */
export function copiesFor(loaded: Loaded, machine: MachineFacts, threads: number, blocking: boolean): number {
  if (loaded.target.device.type !== "cpu" || !blocking) return 1;
  const perCopy = loaded.variant.bytes * bytesPerWeightByte;
  const allowed = Math.floor((machine.memory.available.value * shareOfMemory) / Math.max(perCopy, 1));
  return Math.min(threads, allowed, mostCopies);
}
