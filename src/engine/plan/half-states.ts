/** Keeps states in float16: rows are rounded when they are appended, and widened again where the graph reads them. */
import type { Graph, GraphNode, Value } from "../ir/graph.ts";
import type { TensorType } from "../ir/tensor-type.ts";
import { appendedStates } from "./appended-states.ts";

/**
 * Rewrites a float32 graph so that the states with these input names are float16: half the memory, for one more pass over them in each run. New rows are
 * rounded as well, so that results do not depend on how many tokens a run appends. The graph has been optimized: no pass may widen the states again.
 * Throws MODEL_UNSUPPORTED as `appendedStates` does.
 */
export function withHalfStates(graph: Graph, names: readonly string[]): Graph {
  const replaced = new Map<Value, Value>();
  const appends = new Map<Value, readonly GraphNode[]>();
  for (const { past, append, appended } of appendedStates(graph, names)) {
    const half: Value = { type: inHalf(past.type) };
    const rows = append.inputs.slice(1).map((value): GraphNode => cast(value, { type: inHalf(value.type) }));
    const joined: Value = { type: inHalf(appended.type) };
    const inputs = [half, ...rows.flatMap(({ outputs }) => outputs)];
    const joins: GraphNode = { operation: append.operation, inputs, outputs: [joined] };
    appends.set(appended, [...rows, joins, cast(joined, appended)]);
    replaced.set(past, half).set(appended, joined);
  }
  const inHalfIfState = <Named extends { readonly value: Value }>(each: Named): Named => {
    return { ...each, value: replaced.get(each.value) ?? each.value };
  };
  return {
    inputs: graph.inputs.map(inHalfIfState),
    nodes: graph.nodes.flatMap((node) => (node.outputs[0] && appends.get(node.outputs[0])) ?? [node]),
    outputs: graph.outputs.map(inHalfIfState),
  };
}

function inHalf({ shape }: TensorType): TensorType {
  return { dataType: "float16", shape };
}

function cast(from: Value, to: Value): GraphNode {
  const step = { operation: { kind: "cast", to: to.type.dataType, saturate: false }, operands: [0] } as const;
  return { operation: { kind: "elementwise", steps: [step] }, inputs: [from], outputs: [to] };
}
