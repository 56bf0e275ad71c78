/** Statistics of measurements. */

/** The median; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const above = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? above : ((sorted[middle - 1] ?? Number.NaN) + above) / 2;
}

/** Half of the range, relative to the median: how much one round may be off by chance. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values);
}
