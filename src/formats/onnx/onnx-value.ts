/** The name, type and shape of one value of an ONNX graph. */
import { omitUndefined } from "../../contract/checked.ts";
import type { OnnxMessage } from "./onnx-messages.ts";
import { onnxTypeName } from "./onnx-types.ts";

/** A dimension: a number is a fixed size, a string the name of a free dimension, null a free dimension without a name. */
export type OnnxDimension = number | string | null;

/** The name, type and shape of an input or output of an ONNX graph. */
export interface OnnxValue {
  readonly name: string;
  /** "float32", "int64", ... for a tensor; "sequence(float32)", "map(int64, float32)", "optional(...)" or "sparse(...)" for other types. */
  readonly type: string;
  /** Dimensions of a tensor. Absent if the graph does not state a shape. */
  readonly shape?: readonly OnnxDimension[];
}

const maxDimensions = 256;

/** The value that a ValueInfoProto describes. Throws Error for more than 256 dimensions. */
export function toOnnxValue({ name, type }: OnnxMessage<"value">): OnnxValue {
  const { element, shape } = type?.tensor ?? {};
  if (element === undefined) return { name, type: typeName(type) };
  return { name, type: onnxTypeName(element), ...omitUndefined({ shape: toOnnxShape(shape) }) };
}

/** The dimensions of a TensorShapeProto. Some exporters write -1 for a free one. Throws Error for more than 256. */
export function toOnnxShape(shape: OnnxMessage<"shape"> | undefined): OnnxDimension[] | undefined {
  if (shape !== undefined && shape.dimensions.length > maxDimensions) {
    throw new Error(`it has a value of more than ${maxDimensions} dimensions`);
  }
  return shape?.dimensions.map(({ size, name }) => {
    const last = size.at(-1) ?? -1;
    return last >= 0 && Number.isSafeInteger(last) ? last : name || null;
  });
}

function typeName(type: OnnxMessage<"type"> | undefined): string {
  if (type?.tensor !== undefined) return onnxTypeName(type.tensor.element);
  if (type?.sparse !== undefined) return `sparse(${onnxTypeName(type.sparse.element)})`;
  if (type?.sequence !== undefined) return `sequence(${typeName(type.sequence.element)})`;
  if (type?.optional !== undefined) return `optional(${typeName(type.optional.element)})`;
  return type?.map === undefined ? "unknown" : `map(${onnxTypeName(type.map.key)}, ${typeName(type.map.value)})`;
}
