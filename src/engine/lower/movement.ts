/** Lowers operations that only move elements (transpose, slice, concat, expand, gather) to strided copies. */
import { at, omitUndefined } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { type GatherRequest, gather, stridedCopy } from "../codegen/wasm/index.ts";
import { hasColumnGather } from "../codegen/x64/index.ts";
import { broadcastStrides, contiguousStrides } from "../ir/broadcast.ts";
import { type ElementType, elementTypes } from "../ir/element-types.ts";
import type { GraphNode, NodeOf, Value } from "../ir/graph.ts";
import { type Literal, toNumbers } from "../ir/literal.ts";
import { lowerBlockGather } from "./blocks.ts";
import {
  getIndexType,
  type LoweredNode,
  singleCall,
  type LoweredCall,
  type LoweringContext,
  tensorOperand,
} from "./lowered-node.ts";

type Width = 1 | 2 | 4 | 8;

/** Bytes that one element takes in engine memory. Types narrower than a byte are stored one element per byte. */
export function storageBytes(type: ElementType): Width {
  const bytes = Math.max(1, elementTypes[type].bits / 8);
  return bytes === 8 ? 8 : bytes === 4 ? 4 : bytes === 2 ? 2 : 1;
}

/** A copy between two strided layouts of one shape. Strides and starts are in elements; a stride of 0 repeats an element. */
export interface StridedCopyOperands {
  /** Tensor that is read. */
  readonly from: Value;
  /** Tensor that is written. */
  readonly to: Value;
  /** Shape of the copied region. */
  readonly shape: readonly number[];
  /** Strides of the region in `from`, in elements; 0 repeats. */
  readonly source: readonly number[];
  /** Strides of the region in `to`, in elements. */
  readonly target: readonly number[];
  /** Offset of the region in `from`, in elements. Default: 0. */
  readonly sourceStart?: number;
  /** Offset of the region in `to`, in elements. Default: 0. */
  readonly targetStart?: number;
}

/** The kernel call that copies one strided layout to another. */
export function stridedCopyCall({
  from,
  to,
  shape,
  source,
  target,
  sourceStart = 0,
  targetStart = 0,
}: StridedCopyOperands): LoweredCall {
  const elementBytes = storageBytes(from.type.dataType);
  const kernel = stridedCopy({ shape, from: source, to: target, elementBytes });
  return { kernel, operands: [tensorOperand(from, sourceStart * elementBytes), tensorOperand(to, targetStart * elementBytes)] };
}

function onlyOperands({ inputs, outputs }: GraphNode): readonly [Value, Value] | undefined {
  const [x] = inputs;
  const [y] = outputs;
  return x === undefined || y === undefined ? undefined : [x, y];
}

/** Lowers a transpose to one strided copy. */
export function lowerTranspose(node: NodeOf<"transpose">): LoweredNode | undefined {
  const [from, to] = onlyOperands(node) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const strides = contiguousStrides(from.type.shape);
  const source = node.operation.permutation.map((axis) => at(strides, axis));
  return { calls: [stridedCopyCall({ from, to, shape: to.type.shape, source, target: contiguousStrides(to.type.shape) })] };
}

/** Lowers a slice, with negative steps too, to one strided copy. */
export function lowerSlice(node: NodeOf<"slice">): LoweredNode | undefined {
  const [from, to] = onlyOperands(node) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const { starts, steps } = node.operation;
  const strides = contiguousStrides(from.type.shape);
  const source = steps.map((step, axis) => step * at(strides, axis));
  const sourceStart = starts.reduce((sum, start, axis) => sum + start * at(strides, axis), 0);
  return {
    calls: [stridedCopyCall({ from, to, shape: to.type.shape, source, target: contiguousStrides(to.type.shape), sourceStart })],
  };
}

/** Lowers a broadcast to one strided copy whose source strides are 0 on broadcast axes. */
export function lowerExpand(node: NodeOf<"expand">): LoweredNode | undefined {
  const [from, to] = onlyOperands(node) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const { shape } = to.type;
  return {
    calls: [
      stridedCopyCall({ from, to, shape, source: broadcastStrides(from.type.shape, shape), target: contiguousStrides(shape) }),
    ],
  };
}

/** Lowers a concatenation to one strided copy per operand. */
export function lowerConcat(node: NodeOf<"concat">): LoweredNode | undefined {
  return { calls: node.inputs.flatMap((_, operand) => appendOperand(node, operand)) };
}

/**
 * Lowers a concatenation whose first operand is already stored at the beginning of the output, as the past of a key-value cache is: only the others
 * are copied.
 */
export function lowerAppend(node: NodeOf<"concat">): LoweredNode {
  return { calls: node.inputs.slice(1).flatMap((_, operand) => appendOperand(node, operand + 1)) };
}

/** The copy of one operand to its position in the output; empty when the operand has no elements. */
function appendOperand({ operation, inputs, outputs }: NodeOf<"concat">, operand: number): readonly LoweredCall[] {
  const [from, to] = [at(inputs, operand), at(outputs, 0)];
  if (elementCount(from.type.shape) === 0) return [];
  const { shape } = from.type;
  const target = contiguousStrides(to.type.shape);
  const start = inputs.slice(0, operand).reduce((sum, { type }) => sum + at(type.shape, operation.axis), 0);
  const targetStart = start * at(target, operation.axis);
  return [stridedCopyCall({ from, to, shape, source: contiguousStrides(shape), target, targetStart })];
}

/** Lowers gather (ONNX Gather) with int32 or int64 indices along one axis. An index out of range ends the run with INPUT_INVALID. */
export function lowerGather(node: NodeOf<"gather">, context: LoweringContext): LoweredNode | undefined {
  const quantized = lowerBlockGather(node, context);
  if (quantized !== undefined) return quantized;
  const { operation, inputs, outputs } = node;
  const [data, indices] = inputs;
  const indexType = getIndexType(indices);
  if (data === undefined || indexType === undefined) return undefined;
  const { shape } = data.type;
  const request = {
    outer: elementCount(shape.slice(0, operation.axis)),
    n: at(shape, operation.axis),
    inner: elementCount(shape.slice(operation.axis + 1)),
    count: elementCount(indices?.type.shape ?? []),
    elementBytes: storageBytes(data.type.dataType),
    indexType,
  };
  const columns = context.hasWideVectors ? knownColumns(request, indices?.constant) : undefined;
  return singleCall(
    gather({ ...request, ...omitUndefined({ columns }) }),
    tensorOperand(data),
    tensorOperand(indices),
    tensorOperand(outputs[0]),
  );
}

/** Rows from which on machine code is generated for constant indices. */
const minRows = 8;

/** Constant indices for which there is machine code; undefined if there is none. */
function knownColumns(
  { outer, inner, n, elementBytes }: Pick<GatherRequest, "outer" | "inner" | "n" | "elementBytes">,
  constant: Literal | undefined,
): readonly number[] | undefined {
  if (constant === undefined || outer < minRows || inner * elementBytes !== Float32Array.BYTES_PER_ELEMENT) return undefined;
  const columns = Array.from(toNumbers(constant), (index) => (index < 0 ? index + n : index));
  return columns.every((column) => column >= 0 && column < n) && hasColumnGather({ n, columns }) ? columns : undefined;
}
