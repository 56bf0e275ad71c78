/** Fuses a convolution with the bias and the activation that follow it. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { type GraphNode, type NodeOf, type Value } from "../ir/graph.ts";
import { sameShape } from "../ir/tensor-type.ts";
import { reshaped } from "../ir/literal.ts";
import type { Activation } from "../ir/operations.ts";
import { getFollowingActivation } from "./patterns.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/** Replaces convolution + constant bias per channel, and convolution + ReLU, tanh or sigmoid, by one convolution that does both. */
export const fuseConvolutions: Pass = valuePass(fused);

function fused(node: GraphNode, rewriter: Rewriter): Value | undefined {
  const activation = getFollowingActivation(node);
  if (activation !== undefined) return withActivation(rewriter, ...activation);
  const { operation, inputs } = node;
  const [a, b] = inputs;
  if (operation.kind !== "binary" || operation.function !== "add" || a === undefined || b === undefined) return undefined;
  return withBias(rewriter, a, b) ?? withBias(rewriter, b, a);
}

/** The convolution that computes the value, if the value has no other reader and no activation is fused yet. */
function fusible(rewriter: Rewriter, value: Value): NodeOf<"convolution"> | NodeOf<"convolution-transpose"> | undefined {
  const node = rewriter.producerOfKind(value, "convolution") ?? rewriter.producerOfKind(value, "convolution-transpose");
  return node !== undefined && rewriter.hasOneUse(value) && node.operation.activation === undefined ? node : undefined;
}

/** The convolution with a bias of one constant per channel: broadcasts as `[C, 1, ...]`. */
function withBias(rewriter: Rewriter, value: Value, bias: Value): Value | undefined {
  const node = fusible(rewriter, value);
  if (node === undefined || node.inputs.length > 2 || bias.constant === undefined) return undefined;
  const channels = at(value.type.shape, 1);
  const perChannel = [channels, ...value.type.shape.slice(2).map(() => 1)];
  const isPerChannel = sameShape(bias.type.shape.slice(-perChannel.length), perChannel);
  if (!isPerChannel || elementCount(bias.type.shape) !== channels) return undefined;
  const vector = reshaped(bias.constant, [channels]);
  return rewriter.add(node.operation, ...node.inputs, { type: { ...bias.type, shape: [channels] }, constant: vector });
}

function withActivation(rewriter: Rewriter, value: Value, activation: Activation): Value | undefined {
  const node = fusible(rewriter, value);
  return node === undefined || value.type.dataType !== "float32"
    ? undefined
    : rewriter.add({ ...node.operation, activation }, ...node.inputs);
}
