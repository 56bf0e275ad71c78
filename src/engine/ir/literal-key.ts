/** Keys for literals in hash tables, by type, shape and every element. Meant for literals of few elements. */
import type { Literal } from "./literal.ts";

/** A string that two literals share only if type, shape and all elements are equal; -0 differs from 0. */
export function literalKey({ dataType, shape, data }: Literal): string {
  return `${dataType}[${shape.join()}]${Array.from<number | bigint | string, string>(data as ArrayLike<number>, exactText).join()}`;
}

/** One element as text. Keeps the sign of zero, and quotes strings so that a comma inside one does not read as two elements. */
export function exactText(element: number | bigint | string): string {
  if (typeof element === "string") return JSON.stringify(element);
  return Object.is(element, -0) ? "-0" : String(element);
}
