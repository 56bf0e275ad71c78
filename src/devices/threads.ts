/** How many threads an engine may be given on this machine. */
import type { CpuFacts } from "../backend.ts";
import { InferyardError } from "../errors.ts";

/**
 * The CPU quota rounded down, at least 1; `wanted` is clamped to it. Engines take any number: with more threads than processors
 * they spin against each other, and with thousands they take the machine down. Throws INPUT_INVALID when `wanted` is no number.
 */
export function threadsFor(cpu: CpuFacts, wanted?: number): number {
  const most = Math.max(1, Math.floor(cpu.quota.value));
  if (wanted === undefined) return most;
  if (Number.isNaN(wanted)) {
    throw new InferyardError("INPUT_INVALID", "the number of threads is not a number", {
      remedy: `give a whole number from 1 to ${most}, or leave it out`,
    });
  }
  return Math.min(most, Math.max(1, Math.floor(wanted)));
}
