/** How much memory a server may take for what clients make it hold. */
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

/**
 * A share of the memory this process may use, in bytes, at most `max`: of the machine's, of its control group's where that has a limit, or of
 * twice the heap limit of V8 where a small one is set.
 */
export function memoryShare(share: number, max: number): number {
  const group = process.constrainedMemory();
  const heap = 2 * getHeapStatistics().heap_size_limit;
  const memory = Math.min(totalmem(), heap, group === undefined || group === 0 ? Number.POSITIVE_INFINITY : group);
  return Math.floor(Math.min(max, memory * share));
}
