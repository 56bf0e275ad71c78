/** Operations on elements that follow each other become one chain, which needs memory for its inputs and its output alone. */
import { type Graph, type GraphNode, type NodeOf, sameShape, type Value } from "../ir/graph.ts";
import type { ElementOperation, ElementStep } from "../ir/operations.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

/** Longer chains are cut: their values no longer fit into registers. */
const maxSteps = 24;
const maxInputs = 8;

export function fuseElementwise(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    const operation = elementOperation(node);
    return operation === undefined ? undefined : [chained(node, operation, rewriter)];
  });
}

function elementOperation({ operation, outputs }: GraphNode): ElementOperation | undefined {
  if (outputs[0]?.type.dataType === "string") return undefined;
  const { kind } = operation;
  return kind === "unary" || kind === "binary" || kind === "select" || kind === "cast" || kind === "gelu" ? operation : undefined;
}

/** The chain of this node, with the chains of those inputs that nobody else uses. */
function chained(node: GraphNode, operation: ElementOperation, rewriter: Rewriter): Value {
  const shape = node.outputs[0]?.type.shape ?? [];
  const inner = new Map<Value, NodeOf<"elementwise">>();
  let steps = 1;
  let operands = node.inputs.length;
  for (const input of node.inputs) {
    const chain = rewriter.producerOfKind(input, "elementwise");
    if (chain === undefined || inner.has(input) || !rewriter.hasOneUse(input) || !sameShape(input.type.shape, shape)) continue;
    if (steps + chain.operation.steps.length > maxSteps || operands + chain.inputs.length - 1 > maxInputs) continue;
    steps += chain.operation.steps.length;
    operands += chain.inputs.length - 1;
    inner.set(input, chain);
  }
  const inputs = [...new Set(node.inputs.flatMap((input) => inner.get(input)?.inputs ?? [input]))];
  const all: ElementStep[] = [];
  const places = new Map<Value, number>(inputs.map((input, place) => [input, place]));
  for (const [value, chain] of inner) {
    const first = inputs.length + all.length;
    const moved = (place: number): number => {
      const input = chain.inputs[place];
      return input === undefined ? first + place - chain.inputs.length : (places.get(input) ?? 0);
    };
    for (const step of chain.operation.steps) all.push({ operation: step.operation, operands: step.operands.map(moved) });
    places.set(value, inputs.length + all.length - 1);
  }
  all.push({ operation, operands: node.inputs.map((input) => places.get(input) ?? 0) });
  return rewriter.add({ kind: "elementwise", steps: all }, ...inputs);
}
