/** Statistics of measurements and of computed numbers. */

/** The median; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const above = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? above : ((sorted[middle - 1] ?? Number.NaN) + above) / 2;
}

/** Median milliseconds of `runs` runs, after one that is not timed, which makes the memory resident. */
export async function timeRuns(runs: number, run: (index: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index <= runs; index += 1) {
    const start = performance.now();
    await run(index);
    if (index > 0) times.push(performance.now() - start);
  }
  return median(times);
}

/** Half of the range, relative to the median: how much one round may be off by chance. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values);
}

/** Root of the mean square of the difference of two lists, relative to the standard deviation of `expected`. NaN counts as infinite. */
export function relativeDifference(expected: Float32Array | Float64Array, actual: Float32Array): number {
  let [sum, error, variance] = [0, 0, 0];
  for (const value of expected) sum += value;
  const mean = sum / expected.length;
  for (const [index, value] of expected.entries()) {
    error += ((actual[index] ?? Number.NaN) - value) ** 2;
    variance += (value - mean) ** 2;
  }
  if (error === 0) return 0;
  const difference = Math.sqrt(error / variance);
  return Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
}
