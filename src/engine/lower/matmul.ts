/** Linear layers and products of two computed matrices. */
import { at } from "../../contract/checked.ts";
import {
  type BatchedMatmulRequest,
  batchedMatmul,
  matmul,
  type MatmulRequest,
  type MatrixStrides,
  packedMatmulLength,
  packMatmulWeights,
  unpackMatmulWeights,
  widePanelColumns,
} from "../codegen/wasm/index.ts";
import { broadcastStrides, contiguousStrides } from "../ir/broadcast.ts";
import type { NodeOf, Value } from "../ir/graph.ts";
import type { TensorType } from "../ir/tensor-type.ts";
import type { OperationOf } from "../ir/operations.ts";
import { elementCount } from "../../contract/tensor.ts";
import { lowerBlockLinear, multipliableBlocks } from "./blocks.ts";
import {
  type LoweredNode,
  toFloats,
  type LoweringContext,
  singleCall,
  type Operand,
  type PackedWeights,
  tensorOperand,
} from "./lowered-node.ts";

/** From this many rows on machine code multiplies panels of two computed matrices. */
const minWideRows = 4;

/** Lowers a linear layer with constant weights [k, n], which are packed once, and with bias, activation and residual. float32 only. */
export function lowerLinear({ operation, inputs, outputs }: NodeOf<"linear">, context: LoweringContext): LoweredNode | undefined {
  const [x, weights, ...added] = inputs;
  const [output] = outputs;
  const source = weights?.constant;
  if (x === undefined || source === undefined || output === undefined || x.type.dataType !== "float32") return undefined;
  const blocks = multipliableBlocks(source);
  if (blocks !== undefined) return lowerBlockLinear({ operation, inputs, outputs }, source, blocks, context);
  const [k, n] = [at(source.shape, 0), at(source.shape, 1)];
  const m = elementCount(x.type.shape.slice(0, -1));
  const { bias, activation, residual } = operation;
  const panelColumns = context.hasWideVectors ? widePanelColumns : 8;
  const shape = { k, n, panelColumns } as const;
  const packed: PackedWeights = {
    source,
    layout: `matmul ${k}x${n} by ${panelColumns}`,
    bytes: packedMatmulLength(shape) * 4,
    pack: (target, elements) => packMatmulWeights(toFloats(target), elements as Float32Array, shape),
    unpack: (from) => unpackMatmulWeights(toFloats(from), shape),
  };
  const operands: Operand[] = [
    tensorOperand(x),
    { kind: "packed", weights: packed },
    ...added.map((value) => tensorOperand(value)),
    tensorOperand(output),
  ];
  const request: MatmulRequest = { m, n, k, bias, activation, residual, panelColumns };
  return singleCall(matmul(request), ...operands);
}

/** Lowers `matmul` of operands with different numbers of batch axes, and of integers. A pass replaces every other `matmul` by `product`. */
export function lowerMatmul({ inputs, outputs }: NodeOf<"matmul">, { hasWideVectors }: LoweringContext): LoweredNode | undefined {
  const order = Array.from(outputs[0]?.type.shape ?? [], (_, axis) => axis);
  const raised = inputs.map(({ type }) => {
    const missing = order.slice(type.shape.length).map(() => 1);
    return { ...type, shape: [...missing, ...type.shape] };
  });
  return lowerBatchedMatmul({ a: order, b: order, result: order, alpha: 1, hasWideVectors }, inputs, raised, outputs);
}

/** Lowers `product`: a batched matrix product with permuted operands and result, in float32, or int32 with alpha 1. */
export function lowerProduct(
  { operation, inputs, outputs }: NodeOf<"fused-matmul">,
  { hasWideVectors }: LoweringContext,
): LoweredNode | undefined {
  const types = inputs.map(({ type }) => type);
  return lowerBatchedMatmul({ ...operation, hasWideVectors }, inputs, types, outputs);
}

/** `types`: of the inputs, all of one rank. */
function lowerBatchedMatmul(
  { hasWideVectors, ...operation }: Omit<OperationOf<"fused-matmul">, "kind"> & Pick<LoweringContext, "hasWideVectors">,
  [a, b]: readonly Value[],
  [aType, bType]: readonly TensorType[],
  [output]: readonly Value[],
): LoweredNode | undefined {
  if (a === undefined || b === undefined || output === undefined || aType === undefined || bType === undefined) return undefined;
  const type = aType.dataType;
  if (type !== "float32" && (type !== "int32" || operation.alpha !== 1)) return undefined;
  const rank = operation.result.length;
  // The axes of the result before its own reordering: those of the batch, the rows, the columns.
  const sizes = Array.from({ length: rank }, (_, axis) => at(output.type.shape, operation.result.indexOf(axis)));
  const batch = sizes.slice(0, -2);
  const [m, n] = [at(sizes, rank - 2), at(sizes, rank - 1)];
  const left = permutedView(aType, operation.a);
  const right = permutedView(bType, operation.b);
  const target = contiguousStrides(output.type.shape);
  const strides = Array.from({ length: rank }, (_, axis) => at(target, operation.result.indexOf(axis)));
  if (strides.at(-1) !== 1 && n > 1) return undefined;
  const request: BatchedMatmulRequest = {
    m,
    n,
    k: at(left.shape, rank - 1),
    batch,
    a: matrixStrides(left, batch),
    b: matrixStrides(right, batch),
    c: { row: at(strides, rank - 2), column: 1, batch: strides.slice(0, -2) },
    alpha: operation.alpha,
    type,
    ...(hasWideVectors && m >= minWideRows && type === "float32" ? { panelColumns: widePanelColumns } : {}),
  };
  return singleCall(batchedMatmul(request), tensorOperand(a), tensorOperand(b), tensorOperand(output));
}

interface View {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

function permutedView({ shape }: TensorType, permutation: readonly number[]): View {
  const strides = contiguousStrides(shape);
  return { shape: permutation.map((axis) => at(shape, axis)), strides: permutation.map((axis) => at(strides, axis)) };
}

/** Axes of the batch that have one element here repeat. */
function matrixStrides({ shape, strides }: View, batch: readonly number[]): MatrixStrides {
  const repeats = broadcastStrides(shape.slice(0, -2), batch);
  return {
    row: at(strides, strides.length - 2),
    column: at(strides, strides.length - 1),
    batch: batch.map((_, axis) => {
      const own = axis - batch.length + shape.length - 2;
      return own < 0 || repeats[axis] === 0 ? 0 : at(strides, own);
    }),
  };
}
