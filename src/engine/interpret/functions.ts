/**
 * Functions that only the interpreter computes: those whose output shapes are known beforehand, and which no compiled kernel exists for. One
 * visible list.
 */
import type { Literal } from "../graph/literal.ts";
import type { CallAttributes, OperationOf } from "../graph/operations.ts";
import { concatenateTexts, countGrams, matchTexts } from "./text.ts";

type HostFunction = (inputs: readonly Literal[], attributes: CallAttributes) => readonly Literal[];

const functions: Readonly<Record<string, HostFunction>> = {
  "concatenate-texts": concatenateTexts,
  "match-texts": matchTexts,
  "count-grams": countGrams,
};

export function callFunction(
  { function: name, attributes }: OperationOf<"call">,
  inputs: readonly Literal[],
): readonly Literal[] {
  const compute = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (compute === undefined) throw new Error(`there is no function "${name}"`);
  return compute(inputs, attributes);
}
