/** Binary search. */

/** The first index from `from` whose value passes the test, or the length of the list if none does. All values that pass must follow all values that fail. */
export function findLowerBound<Value>(values: ArrayLike<Value>, passes: (value: Value) => boolean, from = 0): number {
  let low = from;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(values[middle] as Value)) high = middle;
    else low = middle + 1;
  }
  return low;
}
