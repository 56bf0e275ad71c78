/** Reads what a TensorProto says of one tensor of an ONNX file: its name, type and shape, and where its elements are. The elements are not read. */
import { onnxType, onnxTypeName } from "./onnx-types.ts";
import { quoteName } from "../format-errors.ts";
import type { Reading } from "../file-window.ts";
import type { ProtobufFile } from "../protobuf/protobuf-file.ts";
import type { ProtobufField } from "../protobuf/wire-format.ts";
import { stringStringEntryProto, tensorProto } from "./onnx-fields.ts";

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

/** Fields that hold elements, and the smallest number of bytes that one element takes in each. Several packed elements below 8 bits share a varint. */
const minElementBytes: ReadonlyMap<number, number> = new Map([
  [tensorProto.floatData, 4],
  [tensorProto.int32Data, 0.25], // which also holds the types below 32 bits
  [tensorProto.int64Data, 1],
  [tensorProto.doubleData, 8],
  [tensorProto.uint64Data, 1],
]);
/** TensorProto.DataType STRING. */
const stringType = 8;

/**
 * Reads the outline of a TensorProto. Throws Error for more than 256 dimensions, for a size beyond 2^53, and for a tensor that
 * claims more elements than it stores.
 */
export function* readOnnxTensor(file: ProtobufFile, tensor: ProtobufField): Reading<OnnxTensorOutline> {
  const shape: number[] = [];
  let name = "";
  let type = 0;
  let raw: number | undefined;
  let strings = 0;
  let maxElements = 0;
  const external = new Map<string, string>();
  const fields = file.fields(tensor.start, tensor.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    const length = field.end - field.start;
    const minBytes = minElementBytes.get(field.number);
    if (field.number === tensorProto.dims) shape.push(...(yield* file.numbers(field)));
    else if (field.number === tensorProto.dataType) type = field.value;
    else if (field.number === tensorProto.name) name = yield* file.text(field);
    else if (field.number === tensorProto.externalData) external.set(...(yield* readEntry(file, field)));
    else if (field.number === tensorProto.rawData) raw = length;
    else if (field.number === tensorProto.stringData) {
      strings += length;
      maxElements += 1;
    } else if (minBytes !== undefined) maxElements += length / minBytes;
    if (shape.length > maxDimensions) throw new Error(`it has a tensor of ${shape.length} dimensions at byte ${tensor.start}`);
  }
  const elements = shape.reduce((product, dimension) => product * dimension, 1);
  const bits = onnxType(type)?.bits ?? 0;
  const bytes = type === stringType ? strings : Math.ceil((elements * bits) / 8);
  if (!Number.isSafeInteger(elements) || !Number.isSafeInteger(bytes)) {
    throw new Error(`the tensor ${quoteName(name)} has the impossible shape [${shape.slice(0, 8).join(", ")}]`);
  }
  const outline = { name, type, shape, elements, bytes };
  const location = external.get("location");
  if (location !== undefined) {
    const end = wholeNumber(external.get("offset"), name) + wholeNumber(external.get("length"), name);
    return { ...outline, external: { location, end } };
  }
  if (raw === undefined ? elements > maxElements : raw < bytes) {
    const stored = raw === undefined ? `at most ${maxElements}` : `${raw} bytes`;
    throw new Error(
      `the tensor ${quoteName(name)} has the shape [${shape.slice(0, 8).join(", ")}] of ${onnxTypeName(type)}, and stores ${stored}`,
    );
  }
  return outline;
}

/** Reads a StringStringEntryProto, a pair of key and value. An absent key or value is "". */
function* readEntry(file: ProtobufFile, entry: ProtobufField): Reading<[key: string, value: string]> {
  let key = "";
  let value = "";
  const fields = file.fields(entry.start, entry.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    if (field.number === stringStringEntryProto.key) key = yield* file.text(field);
    else if (field.number === stringStringEntryProto.value) value = yield* file.text(field);
  }
  return [key, value];
}

function wholeNumber(text: string | undefined, name: string): number {
  const number = Number(text ?? 0);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`the tensor ${quoteName(name)} names a range of another file that is not a whole number`);
}
