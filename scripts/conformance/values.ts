/** Values of conformance cases, and how they are compared. */
import { type Literal, toNumbers, toBigints, toStrings } from "../../src/engine/ir/literal.ts";
import { isBigIntType } from "../../src/engine/ir/element-types.ts";

export type CaseValue =
  | { readonly kind: "tensor"; readonly literal: Literal }
  | { readonly kind: "sequence"; readonly items: readonly CaseValue[] }
  | { readonly kind: "optional"; readonly content?: CaseValue };

/** As ONNX's own runner has them. */
const relative = 1e-3;
const absolute = 1e-7;

/** What differs, in a sentence, or undefined where nothing does. `typesOnly`: the elements may be any. */
export function difference(given: CaseValue, right: CaseValue, typesOnly = false): string | undefined {
  if (right.kind === "optional" && given.kind === "optional") {
    if (right.content === undefined || given.content === undefined) {
      return right.content === given.content ? undefined : "one holds something and the other does not";
    }
    return difference(given.content, right.content, typesOnly);
  }
  if (right.kind === "sequence" && given.kind === "sequence") {
    if (given.items.length !== right.items.length) return `${given.items.length} items in place of ${right.items.length}`;
    for (const [index, item] of right.items.entries()) {
      const other = given.items[index];
      const found = other === undefined ? "nothing" : difference(other, item, typesOnly);
      if (found !== undefined) return `item ${index}: ${found}`;
    }
    return undefined;
  }
  if (right.kind === "tensor" && given.kind === "tensor") return tensorDifference(given.literal, right.literal, typesOnly);
  return `a ${given.kind} in place of a ${right.kind}`;
}

function tensorDifference(given: Literal, right: Literal, typesOnly: boolean): string | undefined {
  if (given.dataType !== right.dataType) return `${given.dataType} in place of ${right.dataType}`;
  if (given.shape.join() !== right.shape.join()) return `[${given.shape.join(", ")}] in place of [${right.shape.join(", ")}]`;
  if (typesOnly) return undefined;
  if (right.dataType === "string") {
    const [texts, wanted] = [toStrings(given), toStrings(right)];
    const at = wanted.findIndex((text, index) => text !== texts[index]);
    return at < 0 ? undefined : `"${texts[at]}" in place of "${wanted[at]}" at ${at}`;
  }
  if (isBigIntType(right.dataType)) {
    const [numbers, wanted] = [toBigints(given), toBigints(right)];
    for (let at = 0; at < wanted.length; at += 1)
      if (numbers[at] !== wanted[at]) return `${numbers[at]} in place of ${wanted[at]} at ${at}`;
    return undefined;
  }
  const [numbers, wanted] = [toNumbers(given), toNumbers(right)];
  for (let at = 0; at < wanted.length; at += 1) {
    const [one = 0, other = 0] = [numbers[at], wanted[at]];
    if (Object.is(one, other) || one === other || (Number.isNaN(one) && Number.isNaN(other))) continue;
    if (!(Math.abs(one - other) <= absolute + relative * Math.abs(other))) return `${one} in place of ${other} at ${at}`;
  }
  return undefined;
}
