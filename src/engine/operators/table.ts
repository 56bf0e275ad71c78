/** Every operator the engine knows, with the versions it is known from. One visible list. */
import { activations } from "./activations.ts";
import { constants } from "./constants.ts";
import { controlFlow } from "./control-flow.ts";
import { elementwise } from "./elementwise.ts";
import { labelEncoders } from "./label-encoders.ts";
import { linearModels } from "./linear-models.ts";
import { losses } from "./losses.ts";
import type { OperatorFamily, OperatorRule } from "./operator-rule.ts";
import { products } from "./products.ts";
import { random } from "./random.ts";
import { reductions } from "./reductions.ts";
import { selections } from "./selections.ts";
import { sequences } from "./sequences.ts";
import { shapes } from "./shapes.ts";
import { signal } from "./signal.ts";
import { supportVectors } from "./support-vectors.ts";
import { text } from "./text.ts";
import { training } from "./training.ts";
import { treeEnsembles } from "./tree-ensembles.ts";

export const operatorFamilies: Readonly<Record<string, OperatorFamily>> = {
  elementwise,
  activations,
  shapes,
  constants,
  reductions,
  products,
  controlFlow,
  sequences,
  losses,
  signal,
  text,
  selections,
  random,
  training,
  labelEncoders,
  linearModels,
  treeEnsembles,
  supportVectors,
};

/** Newest version of each domain that was read while the rules were written; a model of a newer one is refused. */
export const newestVersions: ReadonlyMap<string, number> = new Map([
  ["", 28],
  ["ai.onnx.ml", 5],
  ["com.microsoft", 1],
]);

const rules = new Map<string, readonly OperatorRule[]>(
  Object.values(operatorFamilies).flatMap((family) => Object.entries(family)),
);

/** The rule for an operator in this version of its domain, if there is one. */
export function operatorRule(domain: string, name: string, version: number): OperatorRule | undefined {
  return rules.get(domain === "" ? name : `${domain}:${name}`)?.findLast(({ since }) => since <= version);
}
