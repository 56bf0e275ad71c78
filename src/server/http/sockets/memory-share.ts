/** Default sizes of buffers that clients fill. */
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

/**
 * A fraction of the memory this process may use in bytes, at most `max`. That memory is the smallest of the machine's memory, the limit of the
 * control group, and twice V8's heap limit.
 */
export function memoryShare(share: number, max: number): number {
  const group = process.constrainedMemory();
  const heap = 2 * getHeapStatistics().heap_size_limit;
  const memory = Math.min(totalmem(), heap, group === undefined || group === 0 ? Number.POSITIVE_INFINITY : group);
  return Math.floor(Math.min(max, memory * share));
}
