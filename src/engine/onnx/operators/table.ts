/**
 * The table of operators: every ONNX operator that the engine supports, by family, with the versions of its rules. To add an operator, write its
 * rule in a family and, for a new family, list it here; docs/reference/operators.md is generated from this table.
 */
import { activations } from "./math/activations.ts";
import { attentions } from "./attention/attention.ts";
import { casts } from "./tensor/casts.ts";
import { dataDependentShapes } from "./tensor/data-dependent-shapes.ts";
import { generators } from "./tensor/generators.ts";
import { controlFlow } from "./control-flow/control-flow.ts";
import { convolutions } from "./nn/convolutions.ts";
import { dropouts } from "./nn/dropout.ts";
import { einsums } from "./math/einsum.ts";
import { elementwiseOperators } from "./math/elementwise.ts";
import { groupQueryAttentions } from "./contrib/group-query-attention.ts";
import { labelEncoders } from "./machine-learning/label-encoders.ts";
import { linearAttentions } from "./attention/linear-attention.ts";
import { linearModels } from "./machine-learning/linear-models.ts";
import { losses } from "./math/losses.ts";
import { contribAttentions } from "./contrib/attention.ts";
import { contribQuantizedElementwise } from "./contrib/quantized-elementwise.ts";
import { contribFused } from "./contrib/fused.ts";
import { contribQuantizedProducts } from "./contrib/quantized-products.ts";
import { contribQuantizedLstm } from "./contrib/quantized-lstm.ts";
import { normalizations } from "./nn/normalizations.ts";
import type { OperatorFamily, OperatorRule } from "./operator-rule.ts";
import { pooling } from "./nn/pooling.ts";
import { matrixProducts } from "./math/matrix-products.ts";
import { quantization } from "./quantization/quantization.ts";
import { random } from "./math/random.ts";
import { recurrentNetworks } from "./nn/recurrent.ts";
import { reductions } from "./math/reductions.ts";
import { resizing } from "./image/resize.ts";
import { rotary } from "./attention/rotary-embedding.ts";
import { sampling } from "./image/sampling.ts";
import { boxSelection } from "./image/non-max-suppression.ts";
import { sequences } from "./tensor/sequences.ts";
import { shapes } from "./tensor/shapes.ts";
import { signal } from "./math/signal.ts";
import { supportVectors } from "./machine-learning/support-vectors.ts";
import { textOperators } from "./tensor/text.ts";
import { optimizers } from "./math/optimizers.ts";
import { treeEnsembles } from "./machine-learning/tree-ensembles.ts";

/** All operators that the engine translates, grouped by family. The families are in the order of docs/reference/operators.md. */
export const operatorFamilies: Readonly<Record<string, OperatorFamily>> = {
  elementwise: elementwiseOperators,
  activations,
  shapes,
  casts,
  generators,
  reductions,
  products: matrixProducts,
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
  microsoftAttentions: contribAttentions,
  groupedQueryAttentions: groupQueryAttentions,
  microsoftFused: contribFused,
  microsoftQuantized: contribQuantizedProducts,
  microsoftElementwiseQuantized: contribQuantizedElementwise,
  microsoftRecurrent: contribQuantizedLstm,
  controlFlow,
  sequences,
  losses,
  signal,
  text: textOperators,
  dataDependentShapes,
  boxSelection,
  random,
  training: optimizers,
  labelEncoders,
  linearModels,
  treeEnsembles,
  supportVectors,
};

/** The newest supported version of each operator set; a model that imports a newer one is refused. */
export const newestVersions: ReadonlyMap<string, number> = new Map([
  ["", 28],
  ["ai.onnx.ml", 5],
  ["ai.onnx.preview", 1],
  ["com.microsoft", 1],
]);

const rules = new Map<string, readonly OperatorRule[]>(
  Object.values(operatorFamilies).flatMap((family) => Object.entries(family)),
);

/** The rule of an operator in a version of its operator set; undefined if the operator is not supported there. `domain`: "" for ai.onnx. */
export function operatorRule(domain: string, name: string, version: number): OperatorRule | undefined {
  return rules.get(domain === "" ? name : `${domain}:${name}`)?.findLast(({ since }) => since <= version);
}

/** Whether the engine translates an operator in a version of its operator set. `domain` is "" for ai.onnx. */
export function hasOperator(domain: string, name: string, version: number): boolean {
  return version <= (newestVersions.get(domain) ?? version) && operatorRule(domain, name, version) !== undefined;
}
