/** Which quantized activations are stored as rows of bytes, a layout that kernels alone read. */
import type { Graph, GraphNode, Value } from "../ir/graph.ts";
import type { LoweredNode, LoweringContext } from "../lower/lowered-node.ts";
import { lowerNode } from "../lower/lower-node.ts";
import { valuesWithByteLayout } from "../lower/quantized.ts";

/**
 * The values of a graph that are stored as rows of bytes. The interpreter reads no such rows, so a value is among them only if kernels compute all
 * operations that write or read it. `isExcluded`: whether the kernels of a lowered node must not be used.
 */
export function valuesStoredAsBytes(
  graph: Graph,
  context: LoweringContext,
  isExcluded: (node: GraphNode, lowered: LoweredNode) => boolean,
): ReadonlySet<Value> {
  const values = new Set(valuesWithByteLayout(graph));
  const hasByteLayout = (value: Value): boolean => values.has(value);
  for (const node of graph.nodes) {
    const stored = [...node.inputs, ...node.outputs].filter(hasByteLayout);
    if (stored.length === 0) continue;
    const lowered = lowerNode(node, { ...context, hasByteLayout });
    if (lowered === undefined || isExcluded(node, lowered)) for (const value of stored) values.delete(value);
  }
  return values;
}
