/** Time limit of a load. */
import { InferyardError } from "../contract/errors.ts";
import { unrefTimeout } from "../platform/event-loop.ts";
import { hostDied } from "./call-queue.ts";
import type { HostName } from "./host-name.ts";
import type { Supervision } from "./supervision.ts";

/**
 * Runs a load with a signal that is aborted when the caller aborts or `maxLoadMs` has passed; the load then ends its peer. A
 * timeout is a hang: the supervision is notified, and HOST_DIED is thrown.
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
