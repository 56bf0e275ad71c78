/** Bounded concurrency. */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";

/**
 * Calls `work` for every item, with at most `limit` calls at a time, and returns the results in the order of the items. After a
 * failure the signal that was passed to the other calls is aborted, and the first error is thrown when all calls have ended.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  limit: number,
  signal: AbortSignal | undefined,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const control = new AbortController();
  const stop = (): void => control.abort(signal?.reason);
  if (signal?.aborted === true) stop();
  addAbortListener(signal, stop);
  const results: Result[] = [];
  const queue = items.entries();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (failures.length > 0) return;
      try {
        results[index] = await work(item, control.signal);
      } catch (error) {
        failures.push(error);
        control.abort();
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  } finally {
    removeAbortListener(signal, stop);
  }
  if (failures.length > 0) throw failures[0];
  return results;
}
