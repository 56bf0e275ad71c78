/** T5's biases by distance: near distances have a row of the table each, far ones share rows by their logarithm. */
import type { Value } from "../../ir/graph.ts";
import { int64Literal } from "../../ir/literal.ts";
import type { Calculation } from "../tensor-ops.ts";
import type { Layer } from "./layers.ts";

export interface DistanceTable {
  /** Gives the row of each bucket: a number for each head. */
  readonly table: Layer;
  readonly buckets: number;
  /** From here on all distances are in the last bucket. */
  readonly longest: number;
  readonly queries: number;
  /** The last query stands at the last key. */
  readonly keys: number;
  /** Whether keys behind a query have buckets of their own; where not, all of them are in the first. */
  readonly bothWays: boolean;
}

/** [1, heads, queries, keys]. */
export function distanceBias(net: Calculation, { table, buckets, longest, queries, keys, bothWays }: DistanceTable): Value {
  const first = keys - queries;
  const places = Array.from({ length: queries * keys }, (_, at) => {
    const ahead = (at % keys) - (Math.floor(at / keys) + first);
    return bucketOf(ahead, buckets, longest, bothWays);
  });
  const rows = table(net, net.build.constant(int64Literal(places, [1, queries, keys])));
  return net.transpose(rows, [0, 3, 1, 2]);
}

/** `ahead`: how far the key stands behind the query in the text, negative where it comes before. */
function bucketOf(ahead: number, buckets: number, longest: number, bothWays: boolean): number {
  const half = Math.floor(buckets / 2);
  const [count, start] = bothWays ? [half, ahead > 0 ? half : 0] : [buckets, 0];
  const distance = bothWays ? Math.abs(ahead) : Math.max(0, -ahead);
  const exact = Math.floor(count / 2);
  if (distance < exact) return start + distance;
  const { fround, log } = Math; // rounded where PyTorch rounds
  const share = fround(fround(log(fround(distance / exact))) / fround(log(longest / exact)));
  return start + Math.min(count - 1, exact + Math.trunc(fround(share * (count - exact))));
}
