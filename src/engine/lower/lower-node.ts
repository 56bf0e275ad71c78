/** The lowering rules by operation kind. The interpreter computes operations that have no rule, or whose rule returns undefined. */
import type { GraphNode, NodeOf } from "../ir/graph.ts";
import type { OperationKind } from "../ir/operations.ts";
import { lowerElementwise } from "./elementwise.ts";
import {
  lowerSubtractZeroPoint,
  lowerIntegerLinear,
  lowerIntegerMatmul,
  lowerQuantizationRange,
  lowerQuantize,
} from "./quantized.ts";
import { lowerGatherElements, lowerGatherNd, lowerScatterElements, lowerScatterNd } from "./gather-scatter.ts";
import { lowerPad } from "./pad.ts";
import { lowerConcat, lowerExpand, lowerGather, lowerSlice, lowerTranspose } from "./movement.ts";
import { lowerLinear, lowerMatmul, lowerProduct } from "./matmul.ts";
import { lowerAveragePool, lowerMaxPool } from "./pooling.ts";
import { lowerConvolution } from "./convolution.ts";
import { lowerConvolutionTranspose } from "./convolution-transpose.ts";
import { lowerArg, lowerCumulative, lowerNorm, lowerReduce, lowerSoftmax, lowerTopK } from "./reductions.ts";
import type { LoweredNode, LoweringRule, LoweringContext } from "./lowered-node.ts";

const rules: { readonly [Kind in OperationKind]?: LoweringRule<NodeOf<Kind>> } = {
  elementwise: lowerElementwise,
  linear: lowerLinear,
  matmul: lowerMatmul,
  "fused-matmul": lowerProduct,
  softmax: lowerSoftmax,
  "layer-norm": lowerNorm,
  "rms-norm": lowerNorm,
  reduce: lowerReduce,
  arg: lowerArg,
  cumulative: lowerCumulative,
  "top-k": lowerTopK,
  transpose: lowerTranspose,
  slice: lowerSlice,
  expand: lowerExpand,
  concat: lowerConcat,
  gather: lowerGather,
  "gather-elements": lowerGatherElements,
  "gather-nd": lowerGatherNd,
  "scatter-elements": lowerScatterElements,
  "scatter-nd": lowerScatterNd,
  pad: lowerPad,
  "quantization-range": lowerQuantizationRange,
  quantize: lowerQuantize,
  "subtract-zero-point": lowerSubtractZeroPoint,
  "integer-matmul": lowerIntegerMatmul,
  "integer-linear": lowerIntegerLinear,
  convolution: lowerConvolution,
  "convolution-transpose": lowerConvolutionTranspose,
  "max-pool": lowerMaxPool,
  "average-pool": lowerAveragePool,
};

/** Lowers a node to calls of generated kernels. Returns undefined if no kernel supports it; the interpreter then computes it. */
export function lowerNode(node: GraphNode, context: LoweringContext): LoweredNode | undefined {
  const rule = rules[node.operation.kind] as LoweringRule | undefined;
  return rule?.(node, context);
}
