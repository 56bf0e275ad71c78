/** All passes, in their order. */
import type { Budget } from "../budget.ts";
import type { Graph } from "../graph/graph.ts";
import type { Fold } from "../interpret/evaluate.ts";
import { shareCommon } from "./common-subexpressions.ts";
import { fuseConvolutions } from "./fuse-convolutions.ts";
import { fuseElements } from "./fuse-elements.ts";
import { fuseIntegers } from "./fuse-integers.ts";
import { fuseLinear } from "./fuse-linear.ts";
import { fuseProducts } from "./fuse-products.ts";
import { fuseSoftmax } from "./fuse-softmax.ts";
import { recognizeGelu } from "./recognize-gelu.ts";
import { recognizeNorms } from "./recognize-norms.ts";
import { recognizeRanges } from "./recognize-ranges.ts";
import { type Pass, withoutDead } from "./rewrite.ts";
import { shareHeads } from "./share-heads.ts";
import { simplify } from "./simplify.ts";
import { sinkRows } from "./sink-rows.ts";
import { widenHalf } from "./widen-half.ts";

export const passes: Readonly<Record<string, Pass>> = {
  widenHalf,
  dropDead: withoutDead,
  simplify,
  shareCommon,
  recognizeNorms,
  recognizeGelu,
  recognizeRanges,
  fuseIntegers,
  shareQuantized: shareCommon,
  fuseLinear,
  sinkRows,
  fuseConvolutions,
  fuseProducts,
  shareHeads,
  fuseSoftmax,
  fuseElements,
};

/** `budget`: of the trace that built the graph. */
export function optimize(graph: Graph, fold?: Fold, budget?: Budget): Graph {
  return Object.values(passes).reduce((current, pass) => {
    budget?.checkTime();
    return pass(current, fold);
  }, graph);
}
