/** T5's biases by distance: near distances have a row of the table each, far ones share rows by their logarithm. */
import type { Value } from "../../ir/graph.ts";
import { int64Literal } from "../../ir/literal.ts";
import type { TensorOps } from "../tensor-ops.ts";
import type { Layer } from "./layers.ts";

export interface RelativePositionOptions {
  /** Gives the row of each bucket: a number for each head. */
  readonly table: Layer;
  readonly bucketCount: number;
  /** From here on all distances are in the last bucket. */
  readonly maxDistance: number;
  readonly queries: number;
  /** The last query stands at the last key. */
  readonly keys: number;
  /** Whether keys behind a query have buckets of their own; where not, all of them are in the first. */
  readonly bidirectional: boolean;
}

/** [1, heads, queries, keys]. */
export function relativePositionBias(
  ops: TensorOps,
  { table, bucketCount, maxDistance, queries, keys, bidirectional }: RelativePositionOptions,
): Value {
  const first = keys - queries;
  const places = Array.from({ length: queries * keys }, (_, at) => {
    const ahead = (at % keys) - (Math.floor(at / keys) + first);
    return relativePositionBucket(ahead, bucketCount, maxDistance, bidirectional);
  });
  const rows = table(ops, ops.builder.constant(int64Literal(places, [1, queries, keys])));
  return ops.transpose(rows, [0, 3, 1, 2]);
}

/** `ahead`: how far the key stands behind the query in the text, negative where it comes before. */
function relativePositionBucket(ahead: number, buckets: number, longest: number, bothWays: boolean): number {
  const half = Math.floor(buckets / 2);
  const [count, start] = bothWays ? [half, ahead > 0 ? half : 0] : [buckets, 0];
  const distance = bothWays ? Math.abs(ahead) : Math.max(0, -ahead);
  const exact = Math.floor(count / 2);
  if (distance < exact) return start + distance;
  const { fround, log } = Math; // rounded where PyTorch rounds
  const share = fround(fround(log(fround(distance / exact))) / fround(log(longest / exact)));
  return start + Math.min(count - 1, exact + Math.trunc(fround(share * (count - exact))));
}
