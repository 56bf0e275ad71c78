/** The number of threads that an engine may use on this machine. */
import type { CpuFacts } from "../contract/backend.ts";
import { invalidInput } from "../contract/errors.ts";

/**
 * Number of threads of an engine: the CPU quota rounded down, at least 1, or `wanted`, which is clamped to it. With more threads
 * than processors engines spin against each other, and thousands of threads overload the machine. Throws INPUT_INVALID if
 * `wanted` is NaN.
 */
export function threadsFor(cpu: CpuFacts, wanted?: number): number {
  const maxThreads = Math.max(1, Math.floor(cpu.quota.value));
  if (wanted === undefined) return maxThreads;
  if (Number.isNaN(wanted)) {
    throw invalidInput("the number of threads is not a number", `give a whole number from 1 to ${maxThreads}, or leave it out`);
  }
  return Math.min(maxThreads, Math.max(1, Math.floor(wanted)));
}
