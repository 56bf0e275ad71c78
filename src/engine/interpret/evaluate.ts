/**
 * The reference interpreter: plain and slow. It defines what operations mean; generated kernels and passes are tested against it. It also folds
 * constants and computes operations that have no kernel.
 */
import type { Literal } from "../ir/literal.ts";
import type { Operation, OperationKind, OperationOf } from "../ir/operations.ts";
import { evaluateBitcast, evaluateCast } from "./casts.ts";
import { evaluateBinary, evaluateSelect, evaluateUnary } from "./elementwise.ts";
import { callFunction } from "./functions.ts";
import {
  evaluateConvolution,
  evaluateConvolutionTranspose,
  evaluateElementwise,
  evaluateGelu,
  evaluateNorm,
  evaluateLinear,
  evaluateFusedMatmul,
} from "./fused.ts";
import {
  evaluateGather,
  evaluateGatherElements,
  evaluateGatherNd,
  evaluateScatterElements,
  evaluateScatterNd,
} from "./gather-scatter.ts";
import {
  evaluateSubtractZeroPoint,
  evaluateIntegerLinear,
  evaluateIntegerMatmul,
  evaluateQuantize,
  evaluateQuantizationRange,
} from "./quantized.ts";
import { evaluateConcat, evaluateExpand, evaluatePad, evaluateReshape, evaluateSlice, evaluateTranspose } from "./movement.ts";
import { evaluateMatmul } from "./products.ts";
import { evaluateArg, evaluateCumulative, evaluateReduce, evaluateSoftmax, evaluateTopK } from "./reductions.ts";
import { evaluateAveragePool, evaluateMaxPool } from "./windows.ts";

/** Each takes as many inputs as shape inference accepts for its kind. */
type Kernels = { readonly [Kind in OperationKind]: (operation: OperationOf<Kind>, inputs: never) => readonly Literal[] };

const kernels: Kernels = {
  unary: evaluateUnary,
  binary: evaluateBinary,
  select: evaluateSelect,
  cast: evaluateCast,
  bitcast: evaluateBitcast,
  reduce: evaluateReduce,
  arg: evaluateArg,
  cumulative: evaluateCumulative,
  matmul: evaluateMatmul,
  convolution: evaluateConvolution,
  "convolution-transpose": evaluateConvolutionTranspose,
  "max-pool": evaluateMaxPool,
  "average-pool": evaluateAveragePool,
  gather: evaluateGather,
  "gather-elements": evaluateGatherElements,
  "gather-nd": evaluateGatherNd,
  "scatter-elements": evaluateScatterElements,
  "scatter-nd": evaluateScatterNd,
  slice: evaluateSlice,
  pad: evaluatePad,
  concat: evaluateConcat,
  transpose: evaluateTranspose,
  reshape: evaluateReshape,
  expand: evaluateExpand,
  "top-k": evaluateTopK,
  softmax: evaluateSoftmax,
  "layer-norm": evaluateNorm,
  "rms-norm": evaluateNorm,
  gelu: evaluateGelu,
  linear: evaluateLinear,
  "quantization-range": evaluateQuantizationRange,
  quantize: evaluateQuantize,
  "subtract-zero-point": evaluateSubtractZeroPoint,
  "integer-matmul": evaluateIntegerMatmul,
  "integer-linear": evaluateIntegerLinear,
  "fused-matmul": evaluateFusedMatmul,
  elementwise: (operation, inputs) => evaluateElementwise(operation, inputs, evaluateNode),
  call: callFunction,
};

/** Computes the outputs of an operation on constants, as `evaluate` does, perhaps from a cache. */
export type ConstantFolder = typeof evaluateNode;

/** The outputs of one operation. Throws Error if the values of the inputs are invalid, such as an index out of range. */
export function evaluateNode(operation: Operation, inputs: readonly Literal[]): readonly Literal[] {
  const kernel = kernels[operation.kind] as (operation: Operation, inputs: readonly Literal[]) => readonly Literal[];
  return kernel(operation, inputs);
}
