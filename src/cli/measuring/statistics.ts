/** The little statistics that measurements need. */

/** The middle value; of an even number the mean of the two in the middle. NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const above = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? above : ((sorted[middle - 1] ?? Number.NaN) + above) / 2;
}

/** Half the distance between the least and the most, as a share of the median: how far one round may be off by chance. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values);
}
