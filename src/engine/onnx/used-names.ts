/** Names that nodes use, in the graphs they hold as well. */
import type { OnnxGraph, OnnxNode } from "./onnx-model.ts";

/** Graphs inside a node: branches, the body of a loop. */
export function innerGraphs(node: OnnxNode): readonly OnnxGraph[] {
  return [...node.attributes.values()].flatMap((attribute) => {
    if (attribute.kind === "graph") return [attribute.value];
    return attribute.kind === "graphs" ? attribute.value : [];
  });
}

/** Among them may be names that an inner graph gives itself. */
export function namesUsed(nodes: readonly OnnxNode[]): ReadonlySet<string> {
  const used = new Set<string>();
  const collect = (node: OnnxNode): void => {
    for (const name of node.inputs) if (name !== "") used.add(name);
    for (const graph of innerGraphs(node)) {
      for (const { name } of graph.outputs) used.add(name);
      graph.nodes.forEach(collect);
    }
  };
  nodes.forEach(collect);
  return used;
}
