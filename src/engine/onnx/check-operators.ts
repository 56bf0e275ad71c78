/** Checks, before a model is traced, that the engine implements every operator of it. */
import type { OnnxModel, OnnxNode } from "./onnx-model.ts";
import { hasOperator } from "./operators/table.ts";
import { unknownOperator } from "./trace-model.ts";
import { innerGraphs } from "./used-names.ts";

/** Throws MODEL_UNSUPPORTED for the first operator, in the graph, its subgraphs and functions, that the engine does not have in the required version. */
export function checkOperators(model: OnnxModel): void {
  const { functions, graph, opsets } = model;
  checkNodes(graph.nodes, opsets);
  for (const { nodes, opsets: own } of functions.values()) checkNodes(nodes, own.size > 0 ? own : opsets);

  function checkNodes(nodes: readonly OnnxNode[], versions: ReadonlyMap<string, number>): void {
    for (const node of nodes) {
      const version = versions.get(node.domain) ?? 1;
      const known = hasOperator(node.domain, node.operator, version) || functions.has(`${node.domain}:${node.operator}`);
      if (!known) throw unknownOperator(node, version);
      for (const inner of innerGraphs(node)) checkNodes(inner.nodes, versions);
    }
  }
}
