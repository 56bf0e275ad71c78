/** What an operation gives: types and shapes of its outputs from those of its inputs. Error where they do not fit. */
import type { TensorType } from "../graph.ts";
import type { Operation, OperationKind, OperationOf } from "../operations.ts";
import {
  inferArg,
  inferBinary,
  inferCumulative,
  inferLayerNorm,
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

type Rules = {
  readonly [Kind in OperationKind]: (operation: OperationOf<Kind>, inputs: readonly TensorType[]) => readonly TensorType[];
};

const rules: Rules = {
  unary: ({ function: name }, inputs) => {
    const [{ shape, dataType }] = operands(inputs, 1);
    return [{ shape, dataType: name === "is-nan" || name === "is-infinite" || name === "not" ? "bool" : dataType }];
  },
  binary: inferBinary,
  select: inferSelect,
  cast: ({ to }, inputs) => [{ shape: operands(inputs, 1)[0].shape, dataType: to }],
  bitcast: ({ to }, inputs) => {
    const [{ shape, dataType }] = operands(inputs, 1);
    if (elementTypes[dataType].bits !== elementTypes[to].bits) throw new Error(`${dataType} and ${to} differ in width`);
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
  quantize: (_, [x]) => [{ dataType: "int16", shape: x?.shape ?? [] }],
  centre: (_, [x]) => [{ dataType: "int16", shape: x?.shape ?? [] }],
  "integer-matmul": (_, inputs) => inferIntegerMatmul(inputs, "int32"),
  "integer-linear": (_, inputs) => inferIntegerMatmul(inputs, "float32"),
  "fused-matmul": inferFusedMatmul,
  elementwise: (operation, inputs) => inferElementwise(operation, inputs, inferTypes),
  "layer-norm": inferLayerNorm,
  gelu: (_, inputs) => [operands(inputs, 1)[0]],
  call: ({ types }) => types,
};

export function inferTypes(operation: Operation, inputs: readonly TensorType[]): readonly TensorType[] {
  const rule = rules[operation.kind] as (operation: Operation, inputs: readonly TensorType[]) => readonly TensorType[];
  return rule(operation, inputs);
}

/** Exactly one input. */
function operands(inputs: readonly TensorType[], count: 1): readonly [TensorType] {
  const [first] = inputs;
  if (first === undefined || inputs.length !== count) throw new Error(`it takes ${count} input and has ${inputs.length}`);
  return [first];
}
