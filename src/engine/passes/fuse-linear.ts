/** Fuses a matrix product with constant weights with its epilogue: bias, residual and activation. */
import { type GraphNode, type NodeOf, type Value } from "../ir/graph.ts";
import { sameShape } from "../ir/tensor-type.ts";
import type { Activation, LinearEpilogue } from "../ir/operations.ts";
import { getFollowingActivation } from "./patterns.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/** Turns float32 matmul by a constant matrix into "linear", and merges the additions and activations that follow "linear" or "integer-linear" into it. */
export const fuseLinear: Pass = valuePass(fused);

function fused(node: GraphNode, rewriter: Rewriter): Value | undefined {
  const { operation, inputs } = node;
  const [a, b] = inputs;
  if (a === undefined) return undefined;
  if (operation.kind === "matmul") return weighted(rewriter, a, b);
  if (operation.kind === "gelu") return withActivation(rewriter, a, operation.approximate === "tanh" ? "gelu-tanh" : "gelu");
  const activation = getFollowingActivation(node);
  if (activation !== undefined) return withActivation(rewriter, ...activation);
  if (operation.kind !== "binary" || operation.function !== "add" || b === undefined) return undefined;
  return withAddend(rewriter, a, b) ?? withAddend(rewriter, b, a);
}

function weighted(rewriter: Rewriter, x: Value, weights: Value | undefined): Value | undefined {
  if (weights?.constant === undefined || weights.type.shape.length !== 2 || x.type.dataType !== "float32") return undefined;
  return rewriter.add({ kind: "linear", bias: false, activation: "none", residual: "none" }, x, weights);
}

type Linear = NodeOf<"linear"> | NodeOf<"integer-linear">;

function getLinear(rewriter: Rewriter, value: Value): Linear | undefined {
  return rewriter.producerOfKind(value, "linear") ?? rewriter.producerOfKind(value, "integer-linear");
}

/** The linear operation that computes the value, if the value has no other reader and neither activation nor residual is fused yet. */
function fusible(rewriter: Rewriter, value: Value): Linear | undefined {
  const node = getLinear(rewriter, value);
  if (node === undefined || !rewriter.hasOneUse(value)) return undefined;
  return node.operation.activation === "none" && node.operation.residual === "none" ? node : undefined;
}

function withAddend(rewriter: Rewriter, value: Value, addend: Value): Value | undefined {
  const node = fusible(rewriter, value);
  if (node === undefined || value === addend) return undefined;
  const isVector = addend.constant !== undefined && addend.type.shape.join() === String(value.type.shape.at(-1));
  if (isVector && !node.operation.bias) return extended(rewriter, node, { bias: true }, addend);
  if (sameShape(addend.type.shape, value.type.shape)) return extended(rewriter, node, { residual: "before-activation" }, addend);
  return undefined;
}

function withActivation(rewriter: Rewriter, value: Value, activation: Activation): Value | undefined {
  const node = getLinear(rewriter, value);
  if (node === undefined || node.operation.activation !== "none" || !rewriter.hasOneUse(value)) return undefined;
  return extended(rewriter, node, { activation });
}

function extended(rewriter: Rewriter, node: Linear, change: Partial<LinearEpilogue>, ...added: readonly Value[]): Value {
  return rewriter.add({ ...node.operation, ...change }, ...node.inputs, ...added);
}
