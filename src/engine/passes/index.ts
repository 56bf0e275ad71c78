/** The optimization pipeline: the graph passes of each level, in the order in which they run. */
import type { LoadSettings } from "../../contract/backend.ts";
import type { TraceBudget } from "../build/trace-budget.ts";
import type { Graph } from "../ir/graph.ts";
import type { ConstantFolder } from "../interpret/evaluate.ts";
import { eliminateCommonSubexpressions } from "./common-subexpression-elimination.ts";
import { fuseConvolutions } from "./fuse-convolutions.ts";
import { fuseElementwise, separateElementwise } from "./fuse-elementwise.ts";
import { fuseQuantizedMatmul } from "./fuse-quantized-matmul.ts";
import { fuseLinear } from "./fuse-linear.ts";
import { fuseMatmul } from "./fuse-matmul.ts";
import { fuseSoftmax } from "./fuse-softmax.ts";
import { recognizeGelu } from "./recognize-gelu.ts";
import { recognizeNorms } from "./recognize-norms.ts";
import { recognizeDynamicQuantization } from "./recognize-dynamic-quantization.ts";
import { type Pass, eliminateDeadCode } from "./rewrite.ts";
import { groupQueryHeads } from "./group-query-heads.ts";
import { multiplyIntegersAsFloats } from "./multiply-integers-as-floats.ts";
import { simplify } from "./simplify.ts";
import { hoistRowSlices } from "./hoist-row-slices.ts";
import { widenHalf } from "./widen-half.ts";

/** How far graphs are rewritten: a value of the load setting `graphOptimization`. */
export type OptimizationLevel = NonNullable<LoadSettings["graphOptimization"]>;

/** The passes that fuse nothing, by name, in order. */
const basicPasses: Readonly<Record<string, Pass>> = { widenHalf, eliminateDeadCode, simplify, eliminateCommonSubexpressions };

/** All passes by name, in order. Some run twice, because one in between exposes new common subexpressions. */
export const passes: Readonly<Record<string, Pass>> = {
  ...basicPasses,
  recognizeNorms,
  recognizeGelu,
  recognizeDynamicQuantization,
  fuseQuantizedMatmul,
  eliminateCommonQuantization: eliminateCommonSubexpressions,
  multiplyIntegersAsFloats,
  fuseLinear,
  hoistRowSlices,
  fuseConvolutions,
  fuseMatmul,
  groupQueryHeads,
  fuseSoftmax,
  fuseElementwise,
};

/** The passes of the level "all" alone: loop fusion, and rewrites that compute fewer rows or share operands. The others fuse known patterns. */
const onlyAtAll: ReadonlySet<Pass> = new Set([fuseElementwise, hoistRowSlices, groupQueryHeads]);

/**
 * The passes of each level. Kernels are generated for elementwise chains, so levels without loop fusion end with chains of one operation. Constants
 * are folded while a model is traced, at every level, because shapes depend on them.
 */
const passesOfLevel: Readonly<Record<OptimizationLevel, readonly Pass[]>> = {
  disabled: [separateElementwise],
  basic: [...Object.values(basicPasses), separateElementwise],
  extended: [...Object.values(passes).filter((pass) => !onlyAtAll.has(pass)), separateElementwise],
  all: Object.values(passes),
};

/** Options of `runPasses`. */
export interface PassOptions {
  /** Level of optimization. Default: "all". */
  readonly level?: OptimizationLevel;
  /** Whether float32 products are computed exactly as IEEE 754 says; not where a device may multiply in fewer bits. Default: false. */
  readonly hasExactFloats?: boolean;
  /** Evaluates operations on constants. Default: the interpreter. */
  readonly fold?: ConstantFolder;
  /** Budget of the trace that built the graph; its time is checked between passes. Default: no limit. */
  readonly budget?: TraceBudget;
}

/** Runs the passes of a level. Throws MODEL_UNSUPPORTED when the time of the budget is used up. */
export function runPasses(graph: Graph, { level = "all", hasExactFloats = false, fold, budget }: PassOptions = {}): Graph {
  return passesOfLevel[level].reduce((current, pass) => {
    budget?.checkTime();
    return pass === multiplyIntegersAsFloats && !hasExactFloats ? current : pass(current, fold);
  }, graph);
}
