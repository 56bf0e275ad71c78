/** The optimization pipeline: all graph passes in the order in which they run. */
import type { TraceBudget } from "../build/trace-budget.ts";
import type { Graph } from "../ir/graph.ts";
import type { ConstantFolder } from "../interpret/evaluate.ts";
import { eliminateCommonSubexpressions } from "./common-subexpression-elimination.ts";
import { fuseConvolutions } from "./fuse-convolutions.ts";
import { fuseElementwise } from "./fuse-elementwise.ts";
import { fuseQuantizedMatmul } from "./fuse-quantized-matmul.ts";
import { fuseLinear } from "./fuse-linear.ts";
import { fuseMatmul } from "./fuse-matmul.ts";
import { fuseSoftmax } from "./fuse-softmax.ts";
import { recognizeGelu } from "./recognize-gelu.ts";
import { recognizeNorms } from "./recognize-norms.ts";
import { recognizeDynamicQuantization } from "./recognize-dynamic-quantization.ts";
import { type Pass, eliminateDeadCode } from "./rewrite.ts";
import { groupQueryHeads } from "./group-query-heads.ts";
import { simplify } from "./simplify.ts";
import { hoistRowSlices } from "./hoist-row-slices.ts";
import { widenHalf } from "./widen-half.ts";

/** The passes by name, in order. Some run twice, because one in between exposes new common subexpressions. */
export const passes: Readonly<Record<string, Pass>> = {
  widenHalf,
  eliminateDeadCode,
  simplify,
  eliminateCommonSubexpressions,
  recognizeNorms,
  recognizeGelu,
  recognizeDynamicQuantization,
  fuseQuantizedMatmul,
  eliminateCommonQuantization: eliminateCommonSubexpressions,
  fuseLinear,
  hoistRowSlices,
  fuseConvolutions,
  fuseMatmul,
  groupQueryHeads,
  fuseSoftmax,
  fuseElementwise,
};

/**
 * Runs all passes. `fold` evaluates operations on constants. `budget` is that of the trace that built the graph; its time is checked between passes,
 * and MODEL_UNSUPPORTED is thrown when it is used up.
 */
export function optimize(graph: Graph, fold?: ConstantFolder, budget?: TraceBudget): Graph {
  return Object.values(passes).reduce((current, pass) => {
    budget?.checkTime();
    return pass(current, fold);
  }, graph);
}
