/** Which kernels compute an operation. One visible list; what is not in it, or refused there, the interpreter computes. */
import type { GraphNode } from "../graph/graph.ts";
import type { OperationKind } from "../graph/operations.ts";
import type { NodeOf } from "../passes/rewrite.ts";
import { lowerElements } from "./lower-elements.ts";
import { lowerCentre, lowerIntegerLinear, lowerIntegerMatmul, lowerQuantizationRange, lowerQuantize } from "./lower-integers.ts";
import { lowerGatherElements, lowerGatherNd, lowerScatterElements, lowerScatterNd } from "./lower-indices.ts";
import { lowerPad } from "./lower-pad.ts";
import { lowerConcat, lowerExpand, lowerGather, lowerSlice, lowerTranspose } from "./lower-movement.ts";
import { lowerLinear, lowerMatmul, lowerProduct } from "./lower-products.ts";
import { lowerAveragePool, lowerMaxPool } from "./lower-pools.ts";
import { lowerConvolution } from "./lower-windows.ts";
import { lowerConvolutionTranspose } from "./lower-transposed.ts";
import { lowerArg, lowerCumulative, lowerLayerNorm, lowerReduce, lowerSoftmax, lowerTopK } from "./lower-rows.ts";
import type { LoweredNode, LowerNode, Surroundings } from "./planned-call.ts";

const rules: { readonly [Kind in OperationKind]?: LowerNode<NodeOf<Kind>> } = {
  elementwise: lowerElements,
  linear: lowerLinear,
  matmul: lowerMatmul,
  product: lowerProduct,
  softmax: lowerSoftmax,
  "layer-norm": lowerLayerNorm,
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
  centre: lowerCentre,
  "integer-matmul": lowerIntegerMatmul,
  "integer-linear": lowerIntegerLinear,
  convolution: lowerConvolution,
  "convolution-transpose": lowerConvolutionTranspose,
  "max-pool": lowerMaxPool,
  "average-pool": lowerAveragePool,
};

export function lowerNode(node: GraphNode, surroundings: Surroundings): LoweredNode | undefined {
  const rule = rules[node.operation.kind] as LowerNode | undefined;
  return rule?.(node, surroundings);
}
