/** Texts that tell literals apart by type, shape and every element: for those of a few elements. */
import type { Literal } from "./literal.ts";

export function literalKey({ dataType, shape, data }: Literal): string {
  return `${dataType}[${shape.join()}]${Array.from<number | bigint | string, string>(data as ArrayLike<number>, exactText).join()}`;
}

/** -0 is not 0 here; texts are quoted, so that no text reads as two. */
export function exactText(element: number | bigint | string): string {
  if (typeof element === "string") return JSON.stringify(element);
  return Object.is(element, -0) ? "-0" : String(element);
}
