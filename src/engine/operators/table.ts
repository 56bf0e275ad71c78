/** Every operator the engine knows, with the versions it is known from. One visible list. */
import { activations } from "./activations.ts";
import { attentions } from "./attention.ts";
import { constants } from "./constants.ts";
import { controlFlow } from "./control-flow.ts";
import { convolutions } from "./convolutions.ts";
import { dropouts } from "./dropout.ts";
import { einsums } from "./einsum.ts";
import { elementwise } from "./elementwise.ts";
import { groupedQueryAttentions } from "./grouped-query-attention.ts";
import { labelEncoders } from "./label-encoders.ts";
import { linearAttentions } from "./linear-attention.ts";
import { linearModels } from "./linear-models.ts";
import { losses } from "./losses.ts";
import { microsoftAttentions } from "./microsoft-attention.ts";
import { microsoftElementwiseQuantized } from "./microsoft-elementwise-quantized.ts";
import { microsoftFused } from "./microsoft-fused.ts";
import { microsoftQuantized } from "./microsoft-quantized.ts";
import { microsoftRecurrent } from "./microsoft-recurrent.ts";
import { normalizations } from "./normalizations.ts";
import type { OperatorFamily, OperatorRule } from "./operator-rule.ts";
import { pooling } from "./pooling.ts";
import { products } from "./products.ts";
import { quantization } from "./quantization.ts";
import { random } from "./random.ts";
import { recurrentNetworks } from "./recurrent.ts";
import { reductions } from "./reductions.ts";
import { resizing } from "./resize.ts";
import { rotary } from "./rotary.ts";
import { sampling } from "./sampling.ts";
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
  convolutions,
  pooling,
  normalizations,
  dropouts,
  quantization,
  attentions,
  rotary,
  linearAttentions,
  recurrentNetworks,
  resizing,
  sampling,
  einsums,
  microsoftAttentions,
  groupedQueryAttentions,
  microsoftFused,
  microsoftQuantized,
  microsoftElementwiseQuantized,
  microsoftRecurrent,
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
  ["ai.onnx.preview", 1],
  ["com.microsoft", 1],
]);

const rules = new Map<string, readonly OperatorRule[]>(
  Object.values(operatorFamilies).flatMap((family) => Object.entries(family)),
);

/** The rule for an operator in this version of its domain, if there is one. */
export function operatorRule(domain: string, name: string, version: number): OperatorRule | undefined {
  return rules.get(domain === "" ? name : `${domain}:${name}`)?.findLast(({ since }) => since <= version);
}

/** Whether a model may use an operator in this version of its domain. */
export function hasOperator(domain: string, name: string, version: number): boolean {
  return version <= (newestVersions.get(domain) ?? version) && operatorRule(domain, name, version) !== undefined;
}
