/** Reads a ValueInfoProto: the name, type and shape of one value of an ONNX graph. */
import { onnxTypeName } from "./onnx-types.ts";
import type { ProtobufFile } from "../protobuf/protobuf-file.ts";
import type { ProtobufField } from "../protobuf/wire-format.ts";
import {
  dimensionProto,
  elementTypeProto,
  mapTypeProto,
  tensorShapeProto,
  tensorTypeProto,
  typeProto,
  valueInfoProto,
} from "./onnx-fields.ts";

/** The name, type and shape of an input or output of an ONNX graph. */
export interface OnnxValue {
  readonly name: string;
  /** "float32", "int64", ... for a tensor; "sequence(float32)", "map(int64, float32)", "optional(...)" or "sparse(...)" for other types. */
  readonly type: string;
  /** Dimensions of a tensor: a number is a fixed size, a string the name of a free dimension, null a free dimension without a name. Absent if the graph does not state a shape. */
  readonly shape?: readonly (number | string | null)[];
}

type ValueType = Omit<OnnxValue, "name">;

/** Types nest (a sequence of maps of sequences); deeper nesting is refused. */
const maxTypeDepth = 16;
const maxDimensions = 256;
const wrappers: ReadonlyMap<number, string> = new Map([
  [typeProto.sequenceType, "sequence"],
  [typeProto.optionalType, "optional"],
]);

/**
 * Reads a ValueInfoProto: the name, type and shape of a value. Throws Error for more than 256 dimensions or types nested more
 * than 16 deep.
 */
export async function readOnnxValue(file: ProtobufFile, value: ProtobufField): Promise<OnnxValue> {
  let name = "";
  let type: ValueType = { type: "unknown" };
  for await (const field of file.fields(value.start, value.end)) {
    if (field.number === valueInfoProto.name) name = await file.text(field);
    else if (field.number === valueInfoProto.type) type = await readType(file, field, 0);
  }
  return { name, ...type };
}

/** TypeProto. */
async function readType(file: ProtobufFile, type: ProtobufField, depth: number): Promise<ValueType> {
  if (depth > maxTypeDepth) throw new Error(`it nests types more than ${maxTypeDepth} deep at byte ${type.start}`);
  let found: ValueType = { type: "unknown" };
  for await (const field of file.fields(type.start, type.end)) {
    const wrapper = wrappers.get(field.number);
    if (field.number === typeProto.tensorType) found = await readTensorType(file, field);
    else if (field.number === typeProto.sparseTensorType) found = { type: `sparse(${(await readTensorType(file, field)).type})` };
    else if (field.number === typeProto.mapType) found = { type: await readMapType(file, field, depth) };
    else if (wrapper !== undefined) found = { type: `${wrapper}(${await readElementType(file, field, depth)})` };
  }
  return found;
}

/** TypeProto.Sequence and TypeProto.Optional. */
async function readElementType(file: ProtobufFile, type: ProtobufField, depth: number): Promise<string> {
  let element = "unknown";
  for await (const field of file.fields(type.start, type.end)) {
    if (field.number === elementTypeProto.elemType) element = (await readType(file, field, depth + 1)).type;
  }
  return element;
}

/** TypeProto.Map. */
async function readMapType(file: ProtobufFile, type: ProtobufField, depth: number): Promise<string> {
  let key = 0;
  let value = "unknown";
  for await (const field of file.fields(type.start, type.end)) {
    if (field.number === mapTypeProto.keyType) key = field.value;
    else if (field.number === mapTypeProto.valueType) value = (await readType(file, field, depth + 1)).type;
  }
  return `map(${onnxTypeName(key)}, ${value})`;
}

/** TypeProto.Tensor and TypeProto.SparseTensor. */
async function readTensorType(file: ProtobufFile, type: ProtobufField): Promise<ValueType> {
  let element = 0;
  let shape: (number | string | null)[] | undefined;
  for await (const field of file.fields(type.start, type.end)) {
    if (field.number === tensorTypeProto.elemType) element = field.value;
    else if (field.number === tensorTypeProto.shape) {
      shape = [];
      for await (const dimension of file.fields(field.start, field.end)) {
        if (dimension.number === tensorShapeProto.dim) shape.push(await readDimension(file, dimension));
        if (shape.length > maxDimensions) throw new Error(`it has a value of more than ${maxDimensions} dimensions`);
      }
    }
  }
  return { type: onnxTypeName(element), ...(shape === undefined ? {} : { shape }) };
}

/** TensorShapeProto.Dimension. Some exporters write -1 for a free dimension. */
async function readDimension(file: ProtobufFile, dimension: ProtobufField): Promise<number | string | null> {
  let size: number | string | null = null;
  for await (const field of file.fields(dimension.start, dimension.end)) {
    if (field.number === dimensionProto.dimValue && field.wireType === 0)
      size = Number.isSafeInteger(field.value) ? field.value : null;
    else if (field.number === dimensionProto.dimParam) size = (await file.text(field)) || null;
  }
  return size;
}
