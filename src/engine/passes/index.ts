/** All passes, in their order. */
import type { Budget } from "../build/trace-budget.ts";
import type { Graph } from "../ir/graph.ts";
import type { Fold } from "../interpret/evaluate.ts";
import { shareCommon } from "./common-subexpression-elimination.ts";
import { fuseConvolutions } from "./fuse-convolutions.ts";
import { fuseElements } from "./fuse-elementwise.ts";
import { fuseIntegers } from "./fuse-quantized-matmul.ts";
import { fuseLinear } from "./fuse-linear.ts";
import { fuseProducts } from "./fuse-products.ts";
import { fuseSoftmax } from "./fuse-softmax.ts";
import { recognizeGelu } from "./recognize-gelu.ts";
import { recognizeNorms } from "./recognize-norms.ts";
import { recognizeRanges } from "./recognize-dynamic-quantization.ts";
import { type Pass, withoutDead } from "./rewrite.ts";
import { shareHeads } from "./group-query-heads.ts";
import { simplify } from "./simplify.ts";
import { sinkRows } from "./hoist-row-slices.ts";
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
