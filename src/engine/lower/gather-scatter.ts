/** Lowers gather and scatter operations, which read or write elements or blocks at positions given by an index tensor. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { gatherBlocks, gatherElements, scatterBlocks, scatterElements, type ScatterType } from "../codegen/wasm/index.ts";
import { contiguousStrides } from "../ir/broadcast.ts";
import type { ElementType } from "../ir/element-types.ts";
import type { NodeOf, Value } from "../ir/graph.ts";
import type { ScatterReduction } from "../ir/operations.ts";
import { stridedCopyCall, storageBytes } from "./movement.ts";
import { getIndexType, type LoweredNode, singleCall, type LoweredCall, tensorOperand } from "./lowered-node.ts";

/** Lowers gather-elements (ONNX GatherElements): for each index, the element at its own coordinates with `axis` replaced by the index. */
export function lowerGatherElements({ operation, inputs, outputs }: NodeOf<"gather-elements">): LoweredNode | undefined {
  const [data, indices] = inputs;
  const indexing = elementIndexing(data, indices, operation.axis);
  if (data === undefined || indexing === undefined) return undefined;
  const kernel = gatherElements({ ...indexing, elementBytes: storageBytes(data.type.dataType) });
  return singleCall(kernel, tensorOperand(data), tensorOperand(indices), tensorOperand(outputs[0]));
}

/** Lowers scatter-elements (ONNX ScatterElements): copies the data, then combines each update with the element that its index names. */
export function lowerScatterElements({ operation, inputs, outputs }: NodeOf<"scatter-elements">): LoweredNode | undefined {
  const [data, indices, updates] = inputs;
  const { axis, reduction } = operation;
  const indexing = elementIndexing(data, indices, axis);
  const type = data && scatterType(data.type.dataType, reduction);
  if (data === undefined || indexing === undefined || type === undefined || !haveSameShape(indices, updates)) return undefined;
  const call = {
    kernel: scatterElements({ ...indexing, type, reduction }),
    operands: [indices, updates, outputs[0]].map(operand),
  };
  return copyThenScatter(data, outputs[0], elementCount(indexing.shape) === 0 ? [] : [call]);
}

/** Lowers gather-nd (ONNX GatherND): the last axis of the indices holds coordinates of blocks of the data. */
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

/** Lowers scatter-nd (ONNX ScatterND): copies the data, then combines each update with the block that its coordinates name. */
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

/** Copies the data to the output (a no-op when both share a buffer), then applies the updates. */
function copyThenScatter(data: Value, to: Value | undefined, calls: readonly LoweredCall[]): LoweredNode | undefined {
  if (to === undefined) return undefined;
  const shape = [elementCount(data.type.shape)];
  return {
    calls: [stridedCopyCall({ from: data, to, shape, source: [1], target: [1] }), ...calls],
    inPlace: [data],
    requiresUniqueBuffer: true,
  };
}

/** The addressing of gather-elements and scatter-elements. undefined when types or shapes are unsupported: the interpreter reports the error. */
function elementIndexing(
  data: Value | undefined,
  indices: Value | undefined,
  axis: number,
): Omit<Parameters<typeof gatherElements>[0], "elementBytes"> | undefined {
  const indexType = getIndexType(indices);
  if (data === undefined || indices === undefined || indexType === undefined || data.type.dataType === "string") return undefined;
  const [sizes, { shape }] = [data.type.shape, indices.type];
  if (sizes.length === 0 || shape.length !== sizes.length) return undefined;
  if (shape.some((size, each) => each !== axis && size > at(sizes, each))) return undefined;
  return { shape, strides: contiguousStrides(sizes), axis, size: at(sizes, axis), indexType };
}

/** The addressing of gather-nd and scatter-nd. undefined when types are unsupported. */
function blockIndexing(
  data: Value | undefined,
  indices: Value | undefined,
  batchAxes: number,
): Omit<Parameters<typeof scatterBlocks>[0], "type" | "reduction"> | undefined {
  const indexType = getIndexType(indices);
  if (data === undefined || indices === undefined || indexType === undefined || data.type.dataType === "string") return undefined;
  const [sizes, { shape }] = [data.type.shape, indices.type];
  const depth = at(shape, shape.length - 1);
  const axes = [batchAxes, batchAxes + depth] as const;
  return {
    rows: elementCount(shape.slice(0, -1)),
    sizes: sizes.slice(...axes),
    strides: contiguousStrides(sizes).slice(...axes),
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
