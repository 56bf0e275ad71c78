/** A limit on the time of a load. */
import { InferyardError } from "../errors.ts";
import { unrefTimeout } from "../platform/event-loop.ts";
import { hostDied } from "./call-queue.ts";
import type { HostName } from "./host.ts";
import type { Supervision } from "./supervision.ts";

/**
 * Runs a load in a peer with a signal that is aborted when the caller cancels and when `maxLoadMs` is over; the load then ends its peer and
 * throws. Being late is a hang: the supervision is told, and HOST_DIED is thrown.
 */
export async function loadWithTimeout<Result>(
  supervision: Supervision,
  host: HostName,
  signal: AbortSignal | undefined,
  load: (signal: AbortSignal | undefined) => Promise<Result>,
): Promise<Result> {
  const { maxLoadMs } = supervision;
  if (maxLoadMs === undefined || host === "inline") return load(signal);
  const late = new AbortController();
  const timer = unrefTimeout(() => late.abort(), maxLoadMs);
  try {
    return await load(signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]));
  } catch (error) {
    const isLate = late.signal.aborted && signal?.aborted !== true && error instanceof InferyardError && error.code === "ABORTED";
    if (!isLate) throw error;
    const reason = `the ${host} was ended, since the model was not loaded within ${maxLoadMs} ms (loadTimeout)`;
    throw hostDied(reason, host, supervision.died(reason, maxLoadMs), { data: { hung: true } });
  } finally {
    clearTimeout(timer);
  }
}
