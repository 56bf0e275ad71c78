/** ValueInfoProto: one input or output of an ONNX graph, with its type and its symbolic dimensions. */
import { onnxTypeName } from "./onnx-types.ts";
import type { ProtobufField, ProtobufFile } from "../protobuf/protobuf-file.ts";

export interface OnnxValue {
  readonly name: string;
  /** "float32", "int64", ... for a tensor; "sequence(float32)", "map(int64, float32)", "optional(...)" and "sparse(...)" for the others. */
  readonly type: string;
  /** Of tensors; left out where the graph does not say. A number is fixed, a text names a free dimension, null is free without a name. */
  readonly shape?: readonly (number | string | null)[];
}

type ValueType = Omit<OnnxValue, "name">;

/** Sequences of maps of sequences end somewhere. */
const maxTypeDepth = 16;
const maxDimensions = 256;
const wrappers: ReadonlyMap<number, string> = new Map([
  [4, "sequence"],
  [9, "optional"],
]);

export async function readOnnxValue(file: ProtobufFile, value: ProtobufField): Promise<OnnxValue> {
  let name = "";
  let type: ValueType = { type: "unknown" };
  for await (const field of file.fields(value.start, value.end)) {
    if (field.number === 1) name = await file.text(field);
    else if (field.number === 2) type = await readType(file, field, 0);
  }
  return { name, ...type };
}

/** TypeProto: tensor_type 1, sequence_type 4, map_type 5, sparse_tensor_type 8, optional_type 9. */
async function readType(file: ProtobufFile, type: ProtobufField, depth: number): Promise<ValueType> {
  if (depth > maxTypeDepth) throw new Error(`it nests types more than ${maxTypeDepth} deep at byte ${type.start}`);
  let found: ValueType = { type: "unknown" };
  for await (const field of file.fields(type.start, type.end)) {
    const wrapper = wrappers.get(field.number);
    if (field.number === 1) found = await readTensorType(file, field);
    else if (field.number === 8) found = { type: `sparse(${(await readTensorType(file, field)).type})` };
    else if (field.number === 5) found = { type: await readMapType(file, field, depth) };
    else if (wrapper !== undefined) found = { type: `${wrapper}(${await readElementType(file, field, depth)})` };
  }
  return found;
}

/** Sequence and Optional: elem_type 1. */
async function readElementType(file: ProtobufFile, type: ProtobufField, depth: number): Promise<string> {
  let element = "unknown";
  for await (const field of file.fields(type.start, type.end)) {
    if (field.number === 1) element = (await readType(file, field, depth + 1)).type;
  }
  return element;
}

/** Map: key_type 1, value_type 2. */
async function readMapType(file: ProtobufFile, type: ProtobufField, depth: number): Promise<string> {
  let key = 0;
  let value = "unknown";
  for await (const field of file.fields(type.start, type.end)) {
    if (field.number === 1) key = field.value;
    else if (field.number === 2) value = (await readType(file, field, depth + 1)).type;
  }
  return `map(${onnxTypeName(key)}, ${value})`;
}

/** Tensor and SparseTensor: elem_type 1, shape 2, whose dimensions are 1. */
async function readTensorType(file: ProtobufFile, type: ProtobufField): Promise<ValueType> {
  let element = 0;
  let shape: (number | string | null)[] | undefined;
  for await (const field of file.fields(type.start, type.end)) {
    if (field.number === 1) element = field.value;
    else if (field.number === 2) {
      shape = [];
      for await (const dimension of file.fields(field.start, field.end)) {
        if (dimension.number === 1) shape.push(await readDimension(file, dimension));
        if (shape.length > maxDimensions) throw new Error(`it has a value of more than ${maxDimensions} dimensions`);
      }
    }
  }
  return { type: onnxTypeName(element), ...(shape === undefined ? {} : { shape }) };
}

/** dim_value 1, dim_param 2. Exporters write -1 where they mean free. */
async function readDimension(file: ProtobufFile, dimension: ProtobufField): Promise<number | string | null> {
  let size: number | string | null = null;
  for await (const field of file.fields(dimension.start, dimension.end)) {
    if (field.number === 1 && field.wireType === 0) size = Number.isSafeInteger(field.value) ? field.value : null;
    else if (field.number === 2) size = (await file.text(field)) || null;
  }
  return size;
}
