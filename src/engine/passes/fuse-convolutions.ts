/** A convolution takes the bias and the activation that follow it. */
import { elementCount } from "../../tensor.ts";
import type { Graph, GraphNode, NodeOf, Value } from "../ir/graph.ts";
import { reshaped } from "../ir/literal.ts";
import type { Activation } from "../ir/operations.ts";
import { scalarOf } from "./patterns.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

export function fuseConvolutions(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    const value = fused(node, rewriter);
    return value === undefined ? undefined : [value];
  });
}

function fused({ operation, inputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  const [a, b] = inputs;
  if (a === undefined) return undefined;
  if (operation.kind === "unary" && (operation.function === "tanh" || operation.function === "sigmoid")) {
    return withActivation(rewriter, a, operation.function);
  }
  if (operation.kind !== "binary" || b === undefined) return undefined;
  if (operation.function === "add") return withBias(rewriter, a, b) ?? withBias(rewriter, b, a);
  return operation.function === "max" && scalarOf(b) === 0 ? withActivation(rewriter, a, "relu") : undefined;
}

/** A convolution that is used here alone and may still be added to. */
function fusible(rewriter: Rewriter, value: Value): NodeOf<"convolution"> | NodeOf<"convolution-transpose"> | undefined {
  const node = rewriter.producerOfKind(value, "convolution") ?? rewriter.producerOfKind(value, "convolution-transpose");
  return node !== undefined && rewriter.hasOneUse(value) && node.operation.activation === undefined ? node : undefined;
}

/** One number for each channel: [C, 1, ...]. */
function withBias(rewriter: Rewriter, value: Value, bias: Value): Value | undefined {
  const node = fusible(rewriter, value);
  const channels = value.type.shape[1] ?? 0;
  const aligned = [channels, ...value.type.shape.slice(2).map(() => 1)].join();
  const stated = bias.type.shape.slice(-aligned.split(",").length).join();
  if (node === undefined || node.inputs.length > 2 || bias.constant === undefined) return undefined;
  if (stated !== aligned || elementCount(bias.type.shape) !== channels) return undefined;
  const vector = reshaped(bias.constant, [channels]);
  return rewriter.add(node.operation, ...node.inputs, { type: { ...bias.type, shape: [channels] }, constant: vector });
}

function withActivation(rewriter: Rewriter, value: Value, activation: Activation): Value | undefined {
  const node = fusible(rewriter, value);
  return node === undefined || value.type.dataType !== "float32"
    ? undefined
    : rewriter.add({ ...node.operation, activation }, ...node.inputs);
}
