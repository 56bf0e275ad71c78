/**
 * Heads of queries that share a head of keys or values (grouped-query attention) read it where it lies. Exporters repeat the keys for them, which
 * copies the whole past for every token that is decoded; as rows of one matrix, the queries need no copies.
 */
import { type Graph, type GraphNode, sameShape, type Value } from "../ir/graph.ts";
import { rewrite, type Rewriter } from "./rewrite.ts";

const identity = [0, 1, 2, 3];

export function groupQueryHeads(graph: Graph): Graph {
  return rewrite(graph, (node, rewriter) => {
    const value = shared(node, rewriter);
    return value === undefined ? undefined : [value];
  });
}

/** a [N, K * G, M, D] times b, K heads of which each was repeated G times, is [N, K, G * M, D] times the K heads. */
function shared({ operation, inputs, outputs }: GraphNode, rewriter: Rewriter): Value | undefined {
  const [a, b] = inputs;
  const [output] = outputs;
  if (operation.kind !== "fused-matmul" || a === undefined || b === undefined || output === undefined) return undefined;
  if (!sameShape(operation.a, identity) || !sameShape(operation.result, identity)) return undefined;
  if (operation.b[0] !== 0 || operation.b[1] !== 1) return undefined;
  const heads = repeatedHeads(rewriter, b);
  if (heads === undefined) return undefined;
  const [batch = 0, all = 0, rows = 0, inner = 0] = a.type.shape;
  const [keyBatch, count = 0] = heads.type.shape;
  if (batch !== keyBatch || all === 0 || all !== b.type.shape[1]) return undefined;
  const grouped = rewriter.add({ kind: "reshape", shape: [batch, count, (all / count) * rows, inner] }, a);
  return rewriter.add({ kind: "reshape", shape: output.type.shape }, rewriter.add(operation, grouped, heads));
}

/** [N, K, L, D], where the value is its reshape to [N, K, 1, L, D], repeated along the third axis and joined to [N, K * G, L, D]. */
function repeatedHeads(rewriter: Rewriter, value: Value): Value | undefined {
  const copies = rewriter.producerOfKind(value, "reshape")?.inputs[0];
  const one = rewriter.producerOfKind(copies, "expand")?.inputs[0];
  if (copies === undefined || one === undefined) return undefined;
  const [batch = 0, count = 0, single, length = 0, depth = 0] = one.type.shape;
  const [, , times = 0] = copies.type.shape;
  if (single !== 1 || one.type.shape.length !== 5 || !sameShape(copies.type.shape, one.type.shape.with(2, times)))
    return undefined;
  if (count === 0 || !sameShape(value.type.shape, [batch, count * times, length, depth])) return undefined;
  return rewriter.add({ kind: "reshape", shape: [batch, count, length, depth] }, one);
}
