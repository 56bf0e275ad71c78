/** Elementwise (loop) fusion: chains of elementwise operations become one operation that keeps intermediate values in registers. */
import { at, required } from "../../contract/checked.ts";
import { type GraphNode, type NodeOf, type Value } from "../ir/graph.ts";
import { sameShape } from "../ir/tensor-type.ts";
import type { ElementOperation, ElementStep } from "../ir/operations.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

/** Most operations in one chain: the values of longer ones do not fit into registers. */
const maxSteps = 24;
/** Most inputs of one chain. */
const maxInputs = 8;

/** Merges each elementwise node with the chains that compute its inputs, where those have no other reader and the same shape. */
export const fuseElementwise: Pass = withChains(maxSteps);

/** Makes each elementwise node a chain of one operation, the form that kernels are generated from. Nothing is fused. */
export const separateElementwise: Pass = withChains(1);

/** `limit` is the maximum number of operations of one chain. */
function withChains(limit: number): Pass {
  return valuePass((node, rewriter) => {
    const operation = elementOperation(node);
    return operation && chained(node, operation, rewriter, limit);
  });
}

function elementOperation({ operation, outputs }: GraphNode): ElementOperation | undefined {
  if (outputs[0]?.type.dataType === "string") return undefined;
  const { kind } = operation;
  return kind === "unary" || kind === "binary" || kind === "select" || kind === "cast" || kind === "gelu" ? operation : undefined;
}

/** Adds the chain that ends with this node and contains the chains of its inputs that can be merged. */
function chained(node: GraphNode, operation: ElementOperation, rewriter: Rewriter, limit: number): Value {
  const { shape } = at(node.outputs, 0).type;
  const inner = new Map<Value, NodeOf<"elementwise">>();
  let steps = 1;
  let operands = node.inputs.length;
  for (const input of node.inputs) {
    const chain = rewriter.producerOfKind(input, "elementwise");
    if (chain === undefined || inner.has(input) || !rewriter.hasOneUse(input) || !sameShape(input.type.shape, shape)) continue;
    if (steps + chain.operation.steps.length > limit || operands + chain.inputs.length - 1 > maxInputs) continue;
    steps += chain.operation.steps.length;
    operands += chain.inputs.length - 1;
    inner.set(input, chain);
  }
  const inputs = [...new Set(node.inputs.flatMap((input) => inner.get(input)?.inputs ?? [input]))];
  const all: ElementStep[] = [];
  const slots = new Map<Value, number>(inputs.map((input, slot) => [input, slot]));
  const getSlot = (value: Value): number => required(slots.get(value), "an operand of a fused chain");
  for (const [value, chain] of inner) {
    const first = inputs.length + all.length;
    const renumbered = (slot: number): number => {
      const input = chain.inputs[slot];
      return input === undefined ? first + slot - chain.inputs.length : getSlot(input);
    };
    for (const step of chain.operation.steps) all.push({ operation: step.operation, operands: step.operands.map(renumbered) });
    slots.set(value, inputs.length + all.length - 1);
  }
  all.push({ operation, operands: node.inputs.map(getSlot) });
  return rewriter.add({ kind: "elementwise", steps: all }, ...inputs);
}
