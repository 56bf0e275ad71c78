/**
 * Functions that only the interpreter computes: those whose output shapes are known beforehand, and which no compiled kernel exists for. One
 * visible list.
 */
import type { Literal } from "../ir/literal.ts";
import type { CallAttributes, CallType, OperationOf } from "../ir/operations.ts";
import { determinants } from "./determinant.ts";
import { drawClasses, drawNormal, drawUniform } from "./random.ts";
import { lookUp } from "./lookup.ts";
import { scoreTrees } from "./tree-ensembles.ts";
import { concatenateTexts, countGrams, matchTexts } from "./text.ts";

type HostFunction = (inputs: readonly Literal[], attributes: CallAttributes, types: readonly CallType[]) => readonly Literal[];

const functions: Readonly<Record<string, HostFunction>> = {
  "concatenate-texts": concatenateTexts,
  "match-texts": matchTexts,
  "count-grams": countGrams,
  "look-up": lookUp,
  "score-trees": scoreTrees,
  determinant: determinants,
  "draw-uniform": drawUniform,
  "draw-normal": drawNormal,
  "draw-classes": drawClasses,
};

export function callFunction(
  { function: name, attributes, types }: OperationOf<"call">,
  inputs: readonly Literal[],
): readonly Literal[] {
  const compute = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (compute === undefined) throw new Error(`there is no function "${name}"`);
  return compute(inputs, attributes, types);
}
