/** Shape inference: types of the outputs of an operation, from the types of its inputs. One rule for each kind of operation. */
import { required } from "../../../contract/checked.ts";
import type { TensorType } from "../tensor-type.ts";
import type { Operation, OperationKind, OperationOf } from "../operations.ts";
import {
  inferArg,
  inferBinary,
  inferCumulative,
  inferNorm,
  inferReduce,
  inferSelect,
  inferSoftmax,
  inferTopK,
} from "./elements.ts";
import { inferElementwise, inferLinear, inferFusedMatmul, inferIntegerMatmul } from "./fused.ts";
import { inferGather, inferGatherElements, inferGatherNd, inferScatter } from "./gather-scatter.ts";
import { inferConcat, inferExpand, inferPad, inferReshape, inferSlice, inferTranspose } from "./movement.ts";
import { inferAveragePool, inferConvolution, inferConvolutionTranspose, inferMatmul, inferMaxPool } from "./products.ts";
import { elementTypes } from "../element-types.ts";
import { operands } from "./operands.ts";

type Rules = {
  readonly [Kind in OperationKind]: (operation: OperationOf<Kind>, inputs: readonly TensorType[]) => readonly TensorType[];
};

const rules: Rules = {
  unary: ({ function: name }, inputs) => {
    const [{ shape, dataType }] = operands(inputs, "x");
    return [{ shape, dataType: name === "is-nan" || name === "is-infinite" || name === "not" ? "bool" : dataType }];
  },
  binary: inferBinary,
  select: inferSelect,
  cast: ({ to }, inputs) => [{ shape: operands(inputs, "x")[0].shape, dataType: to }],
  bitcast: ({ to }, inputs) => {
    const [{ shape, dataType }] = operands(inputs, "x");
    if (elementTypes[dataType].bits !== elementTypes[to].bits) throw new Error(`${dataType} and ${to} have different widths`);
    return [{ shape, dataType: to }];
  },
  reduce: inferReduce,
  arg: inferArg,
  cumulative: inferCumulative,
  matmul: (_, inputs) => inferMatmul(inputs),
  convolution: inferConvolution,
  "convolution-transpose": inferConvolutionTranspose,
  "max-pool": inferMaxPool,
  "average-pool": inferAveragePool,
  gather: inferGather,
  "gather-elements": inferGatherElements,
  "gather-nd": inferGatherNd,
  "scatter-elements": (_, inputs) => inferScatter(inputs),
  "scatter-nd": (_, inputs) => inferScatter(inputs),
  slice: inferSlice,
  pad: inferPad,
  concat: inferConcat,
  transpose: inferTranspose,
  reshape: inferReshape,
  expand: inferExpand,
  "top-k": inferTopK,
  softmax: inferSoftmax,
  linear: inferLinear,
  "quantization-range": () => [
    { dataType: "float32", shape: [] },
    { dataType: "uint8", shape: [] },
  ],
  quantize: (_, inputs) => [{ dataType: "int16", shape: getFirst(inputs).shape }],
  "subtract-zero-point": (_, inputs) => [{ dataType: "int16", shape: getFirst(inputs).shape }],
  "integer-matmul": (_, inputs) => inferIntegerMatmul(inputs, "int32"),
  "integer-linear": (_, inputs) => inferIntegerMatmul(inputs, "float32"),
  "fused-matmul": inferFusedMatmul,
  elementwise: (operation, inputs) => inferElementwise(operation, inputs, inferTypes),
  "layer-norm": inferNorm,
  "rms-norm": inferNorm,
  gelu: (_, inputs) => [operands(inputs, "x")[0]],
  call: ({ types }) => types,
};

/** Infers the types of an operation's outputs from the types of its inputs. Throws Error if the inputs do not fit the operation or each other. */
export function inferTypes(operation: Operation, inputs: readonly TensorType[]): readonly TensorType[] {
  const rule = rules[operation.kind] as (operation: Operation, inputs: readonly TensorType[]) => readonly TensorType[];
  return rule(operation, inputs);
}

function getFirst(inputs: readonly TensorType[]): TensorType {
  return required(inputs[0], "the first input");
}
