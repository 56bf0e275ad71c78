/** Several pieces of work at once, and no more than a few. */

/**
 * Results in the order of the items. The first failure stops the others through the signal they are given; it is thrown when all have
 * ended, so that nothing goes on unseen.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  most: number,
  signal: AbortSignal | undefined,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const control = new AbortController();
  const stop = (): void => control.abort(signal?.reason);
  if (signal?.aborted === true) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const results: Result[] = [];
  const queue = items.entries();
  const failures: unknown[] = [];
  const lane = async (): Promise<void> => {
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
    await Promise.all(Array.from({ length: Math.min(most, items.length) }, lane));
  } finally {
    signal?.removeEventListener("abort", stop);
  }
  if (failures.length > 0) throw failures[0];
  return results;
}
