/** What a TensorProto says of one tensor of an ONNX file: its name, type and shape, and where its elements are. */
import { onnxType, onnxTypeName } from "./onnx-types.ts";
import { quoteName } from "../format-errors.ts";
import { getLastRange, rangesLength } from "../protobuf/ranges.ts";
import type { OnnxMessage } from "./onnx-messages.ts";

/** The name, type, shape and size of one tensor of an ONNX file, without its elements. */
export interface OnnxTensorOutline {
  readonly name: string;
  /** Number of the element type in TensorProto.DataType. */
  readonly type: number;
  readonly shape: readonly number[];
  /** Number of elements. */
  readonly elements: number;
  /** Bytes of the elements, in this file or in another. */
  readonly bytes: number;
  /** Set if the elements are in another file: its path as the graph names it, and the byte after the last one of the tensor there. */
  readonly external?: { readonly location: string; readonly end: number };
}

/** Far above what any operator takes. */
const maxDimensions = 256;

/** TensorProto.DataType STRING. */
const stringType = 8;

/**
 * The number of elements of a tensor. Throws Error for more than 256 dimensions, for a negative one, and for a number of elements beyond 2^53. `name` is the
 * tensor's, for the error.
 */
export function countElements(name: string, shape: readonly number[]): number {
  const elements = shape.reduce((product, dimension) => product * dimension, 1);
  if (shape.length <= maxDimensions && shape.every((size) => size >= 0) && Number.isSafeInteger(elements)) return elements;
  throw new Error(`the tensor ${quoteName(name)} has the impossible shape [${shape.slice(0, 8).join(", ")}]`);
}

/**
 * The outline of a tensor. Throws Error for an impossible shape, and for a tensor that claims more elements than it stores.
 */
export function toTensorOutline(tensor: OnnxMessage<"tensor">): OnnxTensorOutline {
  const { name, dataType: type, shape } = tensor;
  const elements = countElements(name, shape);
  const bits = onnxType(type)?.bits ?? 0;
  const bytes = type === stringType ? rangesLength(tensor.texts) : Math.ceil((elements * bits) / 8);
  const outline = { name, type, shape, elements, bytes };
  const external = new Map(tensor.external.map(({ key, value }) => [key, value]));
  const location = external.get("location");
  if (location !== undefined) {
    const end = wholeNumber(external.get("offset"), name) + wholeNumber(external.get("length"), name);
    return { ...outline, external: { location, end } };
  }
  const raw = getLastRange(tensor.raw);
  const most = maxElements(tensor);
  if (raw === undefined ? elements > most : raw.length < bytes) {
    const stored = raw === undefined ? `at most ${most}` : `${raw.length} bytes`;
    throw new Error(
      `the tensor ${quoteName(name)} has the shape [${shape.slice(0, 8).join(", ")}] of ${onnxTypeName(type)}, and stores ${stored}`,
    );
  }
  return outline;
}

/** Most elements that the fields of single elements can hold. Several packed elements below 8 bits share a varint of the field for types below 32 bits. */
function maxElements({ floats, int32s, int64s, doubles, uint64s, texts }: OnnxMessage<"tensor">): number {
  const varints = rangesLength(int64s) + rangesLength(uint64s) + 4 * rangesLength(int32s);
  return rangesLength(floats) / 4 + rangesLength(doubles) / 8 + varints + texts.length / 2;
}

function wholeNumber(text: string | undefined, name: string): number {
  const number = Number(text ?? 0);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`the tensor ${quoteName(name)} names a range of another file that is not a whole number`);
}
