/** The names that the nodes of an ONNX graph read. */
import type { OnnxGraph, OnnxNode } from "./onnx-model.ts";

/** The subgraphs of a node: the branches of If, the body of Loop or Scan. */
export function innerGraphs(node: OnnxNode): readonly OnnxGraph[] {
  return [...node.attributes.values()].flatMap((attribute) => {
    if (attribute.kind === "graph") return [attribute.value];
    return attribute.kind === "graphs" ? attribute.value : [];
  });
}

/** All names that the nodes and their subgraphs read. Includes names that a subgraph defines itself. */
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
