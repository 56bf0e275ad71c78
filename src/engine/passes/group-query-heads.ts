/**
 * Grouped-query attention (Ainslie et al. 2023, https://arxiv.org/abs/2305.13245) without repeated keys and values. Exporters repeat each key and value
 * head for the query heads that share it, which repeated the whole cache for every decoded token. Here the queries of a group become rows of one matrix
 * and are multiplied by the unrepeated head.
 */
import { type GraphNode, type Value } from "../ir/graph.ts";
import { sameShape } from "../ir/tensor-type.ts";
import { type Pass, type Rewriter, valuePass } from "./rewrite.ts";

const identity = [0, 1, 2, 3];

/**
 * Rewrites a "fused-matmul" whose second operand repeats each key or value head for several query heads: the queries of a group become rows of one
 * matrix, so that the heads need not be repeated.
 */
export const groupQueryHeads: Pass = valuePass(grouped);

/** `[N, K * G, M, D]` times K heads that were each repeated G times, as `[N, K, G * M, D]` times the K heads. */
function grouped({ operation, inputs, outputs }: GraphNode, rewriter: Rewriter): Value | undefined {
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
  const groupedQueries = rewriter.add({ kind: "reshape", shape: [batch, count, (all / count) * rows, inner] }, a);
  return rewriter.add({ kind: "reshape", shape: output.type.shape }, rewriter.add(operation, groupedQueries, heads));
}

/** The heads `[N, K, L, D]` before their repetition, if the value `[N, K * G, L, D]` was made by reshape, expand and reshape as `repeat_kv` does. */
function repeatedHeads(rewriter: Rewriter, value: Value): Value | undefined {
  const repeated = rewriter.producerOfKind(value, "reshape")?.inputs[0];
  const one = rewriter.producerOfKind(repeated, "expand")?.inputs[0];
  if (repeated === undefined || one === undefined) return undefined;
  const [batch = 0, count = 0, single, length = 0, depth = 0] = one.type.shape;
  const [, , times = 0] = repeated.type.shape;
  if (single !== 1 || one.type.shape.length !== 5 || !sameShape(repeated.type.shape, one.type.shape.with(2, times)))
    return undefined;
  if (count === 0 || !sameShape(value.type.shape, [batch, count * times, length, depth])) return undefined;
  return rewriter.add({ kind: "reshape", shape: [batch, count, length, depth] }, one);
}
