import { isBigIntType } from "../ir/element-types.ts";
import { bigintsOf, type Literal, numbersOf, pickElements, stringsOf } from "../ir/literal.ts";

/** Inputs: x, keys, the value of each key and behind them that of what is no key. The first of equal keys counts; what is no number equals itself. */
export function lookup([x, keys, values]: readonly Literal[]): readonly Literal[] {
  if (x === undefined || keys === undefined || values === undefined) throw new Error("it lacks an operand");
  const places = new Map<unknown, number>();
  for (const [place, key] of Array.from(elementsOf(keys)).entries()) if (!places.has(key)) places.set(key, place);
  const found = Array.from(elementsOf(x), (element) => places.get(element) ?? values.data.length - 1);
  return [pickElements(values, x.shape, found)];
}

function elementsOf(x: Literal): ArrayLike<unknown> {
  if (x.dataType === "string") return stringsOf(x);
  return isBigIntType(x.dataType) ? bigintsOf(x) : numbersOf(x);
}
