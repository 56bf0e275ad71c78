/** Whether the engine knows every operator of a model, before anything is computed. */
import type { OnnxModel, OnnxNode } from "./onnx-model.ts";
import { hasOperator } from "./operators/table.ts";
import { unknownOperator } from "./trace-model.ts";
import { innerGraphs } from "./used-names.ts";

/** MODEL_UNSUPPORTED with operator, domain, version and node of the first one that is missing; branches and loops are looked into. */
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
