/** T5's relative position bias (Raffel et al. 2019, https://arxiv.org/abs/1910.10683, section 2.1): a learned bias of the scores per head and distance. */
import type { Value } from "../../ir/graph.ts";
import { int64Literal } from "../../ir/literal.ts";
import type { TensorOps } from "../tensor-ops.ts";
import type { Layer } from "./layers.ts";

/** The bucket table, bucket layout and sequence lengths that determine a relative position bias. */
export interface RelativePositionOptions {
  /** Embedding of the buckets, `[bucketCount, heads]`. */
  readonly table: Layer;
  /** Number of distance buckets: config.json's `relative_attention_num_buckets`. */
  readonly bucketCount: number;
  /** Distance in tokens from which on all distances share the last bucket: `relative_attention_max_distance`. */
  readonly maxDistance: number;
  /** Number of queries. The last query has the position of the last key. */
  readonly queries: number;
  /** Number of keys. */
  readonly keys: number;
  /** Whether keys after a query have buckets of their own, as in an encoder. If false, as in a decoder, they all share the first bucket. */
  readonly bidirectional: boolean;
}

/** The bias, float32 `[1, heads, queries, keys]`. Short distances have a bucket each; longer ones share buckets on a logarithmic scale. */
export function relativePositionBias(
  ops: TensorOps,
  { table, bucketCount, maxDistance, queries, keys, bidirectional }: RelativePositionOptions,
): Value {
  const first = keys - queries;
  const bucketIds = Array.from({ length: queries * keys }, (_, index) => {
    const offset = (index % keys) - (Math.floor(index / keys) + first);
    return relativePositionBucket(offset, bucketCount, maxDistance, bidirectional);
  });
  const biases = table(ops, ops.builder.constant(int64Literal(bucketIds, [1, queries, keys])));
  return ops.transpose(biases, [0, 3, 1, 2]);
}

/**
 * The bias of a decoder from the distances of keys before queries, int64 `[batch, queries, keys]`: float32 `[batch, heads, queries, keys]`. Keys after a
 * query share the first bucket.
 */
export function distanceBias(
  ops: TensorOps,
  { table, bucketCount, maxDistance }: Pick<RelativePositionOptions, "table" | "bucketCount" | "maxDistance">,
  distances: Value,
): Value {
  const buckets = Array.from({ length: maxDistance + 1 }, (_, distance) =>
    relativePositionBucket(-distance, bucketCount, maxDistance, false),
  );
  const byDistance = table(ops, ops.builder.constant(int64Literal(buckets, [maxDistance + 1])));
  const near = ops.binary("min", ops.binary("max", distances, 0), maxDistance);
  return ops.transpose(ops.add({ kind: "gather", axis: 0 }, byDistance, near), [0, 3, 1, 2]);
}

/** The bucket of a key at the position of the query plus `offset`: `T5Attention._relative_position_bucket`. */
function relativePositionBucket(offset: number, bucketCount: number, maxDistance: number, bidirectional: boolean): number {
  const half = Math.floor(bucketCount / 2);
  const [count, start] = bidirectional ? [half, offset > 0 ? half : 0] : [bucketCount, 0];
  const distance = bidirectional ? Math.abs(offset) : Math.max(0, -offset);
  const exact = Math.floor(count / 2);
  if (distance < exact) return start + distance;
  const { fround, log } = Math; // rounded to float32 where PyTorch rounds
  const fraction = fround(fround(log(fround(distance / exact))) / fround(log(maxDistance / exact)));
  return start + Math.min(count - 1, exact + Math.trunc(fround(fraction * (count - exact))));
}
