/** Access that throws where an entry is missing, for places where `undefined` would be a defect of the code and not of its input. */

/**
 * The element at `index`; a negative index does not count from the end. Throws RangeError when the list has no such element, so that a wrong
 * index never reads as zero.
 */
export function at<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index];
  if (element === undefined) throw new RangeError(`a list of ${list.length} elements has none at index ${index}`);
  return element;
}

/** The value, which must be there. `what` names it in the error: "the buffer of output 3". Throws TypeError when it is undefined. */
export function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new TypeError(`${what} is missing`);
  return value;
}
