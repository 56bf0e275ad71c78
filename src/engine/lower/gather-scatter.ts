/** Elements and blocks that indices name. */
import { elementCount } from "../../tensor.ts";
import {
  gatherBlocks,
  gatherElements,
  type IndexType,
  scatterBlocks,
  scatterElements,
  type ScatterType,
} from "../codegen/wasm/index.ts";
import { stridesOf } from "../ir/broadcast.ts";
import type { ElementType } from "../ir/element-types.ts";
import type { NodeOf, Value } from "../ir/graph.ts";
import type { ScatterReduction } from "../ir/operations.ts";
import { stridedCopyCall, storageBytes } from "./movement.ts";
import { type LoweredNode, singleCall, type LoweredCall, tensorOperand } from "./lowered-node.ts";

export function lowerGatherElements({ operation, inputs, outputs }: NodeOf<"gather-elements">): LoweredNode | undefined {
  const [data, indices] = inputs;
  const places = elementIndexing(data, indices, operation.axis);
  if (data === undefined || places === undefined) return undefined;
  const kernel = gatherElements({ ...places, elementBytes: storageBytes(data.type.dataType) });
  return singleCall(kernel, tensorOperand(data), tensorOperand(indices), tensorOperand(outputs[0]));
}

export function lowerScatterElements({ operation, inputs, outputs }: NodeOf<"scatter-elements">): LoweredNode | undefined {
  const [data, indices, updates] = inputs;
  const { axis, reduction } = operation;
  const places = elementIndexing(data, indices, axis);
  const type = data && scatterType(data.type.dataType, reduction);
  if (data === undefined || places === undefined || type === undefined || !haveSameShape(indices, updates)) return undefined;
  const call = { kernel: scatterElements({ ...places, type, reduction }), operands: [indices, updates, outputs[0]].map(operand) };
  return copyThenScatter(data, outputs[0], elementCount(places.shape) === 0 ? [] : [call]);
}

export function lowerGatherNd({ operation, inputs, outputs }: NodeOf<"gather-nd">): LoweredNode | undefined {
  const [data, indices] = inputs;
  const { batchAxes } = operation;
  const blocks = blockIndexing(data, indices, batchAxes);
  if (data === undefined || indices === undefined || blocks === undefined) return undefined;
  const batchRows = elementCount(indices.type.shape.slice(batchAxes, -1));
  const batchLength = elementCount(data.type.shape.slice(batchAxes));
  const kernel = gatherBlocks({ ...blocks, batchRows, batchLength, elementBytes: storageBytes(data.type.dataType) });
  return singleCall(kernel, tensorOperand(data), tensorOperand(indices), tensorOperand(outputs[0]));
}

export function lowerScatterNd({ operation, inputs, outputs }: NodeOf<"scatter-nd">): LoweredNode | undefined {
  const [data, indices, updates] = inputs;
  const { reduction } = operation;
  const blocks = blockIndexing(data, indices, 0);
  const type = data && scatterType(data.type.dataType, reduction);
  if (data === undefined || updates === undefined || blocks === undefined || type === undefined) return undefined;
  const count = blocks.rows * blocks.length;
  if (count !== elementCount(updates.type.shape)) return undefined;
  const call = { kernel: scatterBlocks({ ...blocks, type, reduction }), operands: [indices, updates, outputs[0]].map(operand) };
  return copyThenScatter(data, outputs[0], count === 0 ? [] : [call]);
}

const operand = (value: Value | undefined): ReturnType<typeof tensorOperand> => tensorOperand(value);

/** The data first, which may lie there already, then what changes. */
function copyThenScatter(data: Value, to: Value | undefined, calls: readonly LoweredCall[]): LoweredNode | undefined {
  if (to === undefined) return undefined;
  const shape = [elementCount(data.type.shape)];
  return {
    calls: [stridedCopyCall({ from: data, to, shape, source: [1], target: [1] }), ...calls],
    inPlace: [data],
    requiresUniqueBuffer: true,
  };
}

function indexTypeOf(indices: Value | undefined): IndexType | undefined {
  const type = indices?.type.dataType;
  return type === "int64" || type === "int32" ? type : undefined;
}

/** undefined where the interpreter must see what is wrong with them. */
function elementIndexing(
  data: Value | undefined,
  indices: Value | undefined,
  axis: number,
): Omit<Parameters<typeof gatherElements>[0], "elementBytes"> | undefined {
  const indexType = indexTypeOf(indices);
  if (data === undefined || indices === undefined || indexType === undefined || data.type.dataType === "string") return undefined;
  const [sizes, { shape }] = [data.type.shape, indices.type];
  if (sizes.length === 0 || shape.length !== sizes.length) return undefined;
  if (shape.some((size, at) => at !== axis && size > (sizes[at] ?? 0))) return undefined;
  return { shape, strides: stridesOf(sizes), axis, size: sizes[axis] ?? 0, indexType };
}

function blockIndexing(
  data: Value | undefined,
  indices: Value | undefined,
  batchAxes: number,
): Omit<Parameters<typeof scatterBlocks>[0], "type" | "reduction"> | undefined {
  const indexType = indexTypeOf(indices);
  if (data === undefined || indices === undefined || indexType === undefined || data.type.dataType === "string") return undefined;
  const [sizes, { shape }] = [data.type.shape, indices.type];
  const depth = shape.at(-1) ?? 0;
  const axes = [batchAxes, batchAxes + depth] as const;
  return {
    rows: elementCount(shape.slice(0, -1)),
    sizes: sizes.slice(...axes),
    strides: stridesOf(sizes).slice(...axes),
    length: elementCount(sizes.slice(axes[1])),
    indexType,
  };
}

function scatterType(type: ElementType, reduction: ScatterReduction): ScatterType | undefined {
  if (type === "float32" || type === "int32" || type === "int64") return type;
  return reduction === "none" && type !== "string" ? storageBytes(type) : undefined;
}

function haveSameShape(one: Value | undefined, other: Value | undefined): boolean {
  return one?.type.shape.join() === other?.type.shape.join();
}
