/** The table of functions that only the interpreter computes, because no kernel exists for them. Operations of kind `call` name them. */
import type { Literal } from "../ir/literal.ts";
import type { CallAttributes, OperationOf } from "../ir/operations.ts";
import { determinants } from "./determinant.ts";
import { multinomial, randomNormal, randomUniform } from "./random.ts";
import { lookup } from "./lookup.ts";
import { evaluateTreeEnsemble } from "./tree-ensembles.ts";
import { concatenateStrings, tfIdf, regexFullMatch } from "./text.ts";

/** `inputs`: as many as the function takes, which the operators that call it state. `types`: the types of the outputs. */
type InterpretedFunction = (inputs: never, attributes: CallAttributes, types: never) => readonly Literal[];

const functions: Readonly<Record<string, InterpretedFunction>> = {
  "concatenate-strings": concatenateStrings,
  "regex-full-match": regexFullMatch,
  "tf-idf": tfIdf,
  lookup: lookup,
  "tree-ensemble": evaluateTreeEnsemble,
  determinant: determinants,
  "random-uniform": randomUniform,
  "random-normal": randomNormal,
  multinomial: multinomial,
};

/** Evaluates `call`: the outputs of the interpreted function of this name. Throws Error if there is none. */
export function callFunction(
  { function: name, attributes, types, implementation }: OperationOf<"call">,
  inputs: readonly Literal[],
): readonly Literal[] {
  if (implementation?.evaluate !== undefined) return implementation.evaluate(inputs);
  const compute = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (compute === undefined) throw new Error(`the interpreted function "${name}" does not exist`);
  return (compute as (...given: readonly unknown[]) => readonly Literal[])(inputs, attributes, types);
}
