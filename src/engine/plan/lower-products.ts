/** Linear layers and products of two computed matrices. */
import {
  type BatchedMatmulRequest,
  batchedMatmul,
  matmul,
  type MatrixStrides,
  packedMatmulLength,
  packMatmulWeights,
  unpackMatmulWeights,
} from "../emit/wasm/index.ts";
import { broadcastStrides, stridesOf } from "../graph/broadcast.ts";
import type { TensorType } from "../graph/graph.ts";
import { elementCount } from "../../tensor.ts";
import type { NodeOf } from "../passes/rewrite.ts";
import { type LoweredNode, oneCall, type Operand, type PackedWeights, tensor } from "./planned-call.ts";

export function lowerLinear({ operation, inputs, outputs }: NodeOf<"linear">): LoweredNode | undefined {
  const [x, weights, ...added] = inputs;
  const [output] = outputs;
  const source = weights?.constant;
  if (x === undefined || source === undefined || output === undefined || x.type.dataType !== "float32") return undefined;
  const [k = 0, n = 0] = source.shape;
  const m = elementCount(x.type.shape.slice(0, -1));
  const { bias, activation, residual } = operation;
  const packed: PackedWeights = {
    source,
    layout: `matmul ${k}x${n}`,
    bytes: packedMatmulLength(k, n) * 4,
    pack: (target, elements) => packMatmulWeights(floatsOf(target), elements as Float32Array, { k, n }),
    unpack: (from) => unpackMatmulWeights(floatsOf(from), { k, n }),
  };
  const operands: Operand[] = [
    tensor(x),
    { kind: "packed", weights: packed },
    ...added.map((value) => tensor(value)),
    tensor(output),
  ];
  return oneCall(matmul({ m, n, k, bias, activation, residual }), ...operands);
}

function floatsOf({ buffer, byteOffset, byteLength }: Uint8Array): Float32Array {
  return new Float32Array(buffer, byteOffset, byteLength / 4);
}

export function lowerProduct({ operation, inputs, outputs }: NodeOf<"product">): LoweredNode | undefined {
  const [a, b] = inputs;
  const [output] = outputs;
  if (a === undefined || b === undefined || output === undefined || a.type.dataType !== "float32") return undefined;
  const rank = operation.result.length;
  // The axes of the result before its own reordering: those of the batch, the rows, the columns.
  const whole = Array.from({ length: rank }, (_, axis) => output.type.shape[operation.result.indexOf(axis)] ?? 0);
  const batch = whole.slice(0, -2);
  const left = viewed(a.type, operation.a);
  const right = viewed(b.type, operation.b);
  const target = stridesOf(output.type.shape);
  const own = Array.from({ length: rank }, (_, axis) => target[operation.result.indexOf(axis)] ?? 0);
  if (own.at(-1) !== 1 && (whole.at(-1) ?? 0) > 1) return undefined;
  const request: BatchedMatmulRequest = {
    m: whole.at(-2) ?? 0,
    n: whole.at(-1) ?? 0,
    k: left.shape.at(-1) ?? 0,
    batch,
    a: matrix(left, batch),
    b: matrix(right, batch),
    c: { row: own.at(-2) ?? 0, column: 1, batch: own.slice(0, -2) },
    alpha: operation.alpha,
  };
  return oneCall(batchedMatmul(request), tensor(a), tensor(b), tensor(output));
}

interface View {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

function viewed({ shape }: TensorType, permutation: readonly number[]): View {
  const strides = stridesOf(shape);
  return { shape: permutation.map((axis) => shape[axis] ?? 0), strides: permutation.map((axis) => strides[axis] ?? 0) };
}

/** Axes of the batch that have one element here repeat. */
function matrix({ shape, strides }: View, batch: readonly number[]): MatrixStrides {
  const repeats = broadcastStrides(shape.slice(0, -2), batch);
  return {
    row: strides.at(-2) ?? 0,
    column: strides.at(-1) ?? 0,
    batch: batch.map((_, axis) => {
      const at = axis - batch.length + shape.length - 2;
      return at < 0 || repeats[axis] === 0 ? 0 : (strides[at] ?? 0);
    }),
  };
}
