/** Lookup of elements in a table, for label encoders. */
import { getElements, type Literal, pickElements } from "../ir/literal.ts";
import type { Three } from "./operands.ts";

/**
 * Replaces every element of x by the value of its key. Inputs: x, keys, and the values of the keys followed by the default. The first of equal keys
 * counts; NaN equals itself.
 */
export function lookup([x, keys, values]: Three): readonly Literal[] {
  const positions = new Map<unknown, number>();
  for (const [position, key] of Array.from(getElements(keys)).entries()) if (!positions.has(key)) positions.set(key, position);
  const found = Array.from(getElements(x), (element) => positions.get(element) ?? values.data.length - 1);
  return [pickElements(values, x.shape, found)];
}
