/** Operations that move elements, as copies between layouts. */
import { elementCount } from "../../tensor.ts";
import { gather, stridedCopy } from "../codegen/wasm/index.ts";
import { broadcastStrides, stridesOf } from "../ir/broadcast.ts";
import { type ElementType, elementTypes } from "../ir/element-types.ts";
import type { GraphNode, NodeOf, Value } from "../ir/graph.ts";
import { type LoweredNode, singleCall, type LoweredCall, tensorOperand } from "./lowered-node.ts";

type Width = 1 | 2 | 4 | 8;

/** Bytes an element takes in memory; those below a byte are held one per byte. */
export function storageBytes(type: ElementType): Width {
  const bytes = Math.max(1, elementTypes[type].bits / 8);
  return bytes === 8 ? 8 : bytes === 4 ? 4 : bytes === 2 ? 2 : 1;
}

export interface StridedCopyOperands {
  readonly from: Value;
  readonly to: Value;
  readonly shape: readonly number[];
  readonly source: readonly number[];
  readonly target: readonly number[];
  /** Elements to the first one. */
  readonly sourceStart?: number;
  readonly targetStart?: number;
}

/** One copy between two layouts. */
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

export function lowerTranspose(node: NodeOf<"transpose">): LoweredNode | undefined {
  const [from, to] = onlyOperands(node) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const strides = stridesOf(from.type.shape);
  const source = node.operation.permutation.map((axis) => strides[axis] ?? 0);
  return { calls: [stridedCopyCall({ from, to, shape: to.type.shape, source, target: stridesOf(to.type.shape) })] };
}

export function lowerSlice(node: NodeOf<"slice">): LoweredNode | undefined {
  const [from, to] = onlyOperands(node) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const { starts, steps } = node.operation;
  const strides = stridesOf(from.type.shape);
  const source = steps.map((step, axis) => step * (strides[axis] ?? 0));
  const sourceStart = starts.reduce((sum, start, axis) => sum + start * (strides[axis] ?? 0), 0);
  return { calls: [stridedCopyCall({ from, to, shape: to.type.shape, source, target: stridesOf(to.type.shape), sourceStart })] };
}

export function lowerExpand(node: NodeOf<"expand">): LoweredNode | undefined {
  const [from, to] = onlyOperands(node) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const { shape } = to.type;
  return {
    calls: [stridedCopyCall({ from, to, shape, source: broadcastStrides(from.type.shape, shape), target: stridesOf(shape) })],
  };
}

export function lowerConcat(node: NodeOf<"concat">): LoweredNode | undefined {
  return { calls: node.inputs.flatMap((_, operand) => appendOperand(node, operand)) };
}

/** A concatenation whose first operand lies in place already. */
export function lowerAppend(node: NodeOf<"concat">): LoweredNode {
  return { calls: node.inputs.slice(1).flatMap((_, operand) => appendOperand(node, operand + 1)) };
}

/** The copy of one operand behind those before it; none where it is empty. */
function appendOperand({ operation, inputs, outputs }: NodeOf<"concat">, operand: number): readonly LoweredCall[] {
  const [from, to] = [inputs[operand], outputs[0]];
  if (from === undefined || to === undefined || elementCount(from.type.shape) === 0) return [];
  const { shape } = from.type;
  const target = stridesOf(to.type.shape);
  const start = inputs.slice(0, operand).reduce((sum, { type }) => sum + (type.shape[operation.axis] ?? 0), 0);
  const targetStart = start * (target[operation.axis] ?? 0);
  return [stridedCopyCall({ from, to, shape, source: stridesOf(shape), target, targetStart })];
}

export function lowerGather({ operation, inputs, outputs }: NodeOf<"gather">): LoweredNode | undefined {
  const [data, indices] = inputs;
  const indexType = indices?.type.dataType;
  if (data === undefined || (indexType !== "int64" && indexType !== "int32")) return undefined;
  const { shape } = data.type;
  const request = {
    outer: elementCount(shape.slice(0, operation.axis)),
    n: shape[operation.axis] ?? 0,
    inner: elementCount(shape.slice(operation.axis + 1)),
    count: elementCount(indices?.type.shape ?? []),
    elementBytes: storageBytes(data.type.dataType),
    indexType,
  };
  return singleCall(gather(request), tensorOperand(data), tensorOperand(indices), tensorOperand(outputs[0]));
}
