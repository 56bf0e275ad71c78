/** Reads a ValueInfoProto: the name, type and shape of one value of an ONNX graph. */
import { omitUndefined } from "../../contract/checked.ts";
import { onnxTypeName } from "./onnx-types.ts";
import type { Reading } from "../file-window.ts";
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
export function* readOnnxValue(file: ProtobufFile, value: ProtobufField): Reading<OnnxValue> {
  let name = "";
  let type: ValueType = { type: "unknown" };
  const fields = file.fields(value.start, value.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    if (field.number === valueInfoProto.name) name = yield* file.text(field);
    else if (field.number === valueInfoProto.type) type = yield* readType(file, field, 0);
  }
  return { name, ...type };
}

/** TypeProto. */
function* readType(file: ProtobufFile, type: ProtobufField, depth: number): Reading<ValueType> {
  if (depth > maxTypeDepth) throw new Error(`it nests types more than ${maxTypeDepth} deep at byte ${type.start}`);
  let found: ValueType = { type: "unknown" };
  const fields = file.fields(type.start, type.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    const wrapper = wrappers.get(field.number);
    if (field.number === typeProto.tensorType) found = yield* readTensorType(file, field);
    else if (field.number === typeProto.sparseTensorType)
      found = { type: `sparse(${(yield* readTensorType(file, field)).type})` };
    else if (field.number === typeProto.mapType) found = { type: yield* readMapType(file, field, depth) };
    else if (wrapper !== undefined) found = { type: `${wrapper}(${yield* readElementType(file, field, depth)})` };
  }
  return found;
}

/** TypeProto.Sequence and TypeProto.Optional. */
function* readElementType(file: ProtobufFile, type: ProtobufField, depth: number): Reading<string> {
  let element = "unknown";
  const fields = file.fields(type.start, type.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    if (field.number === elementTypeProto.elemType) element = (yield* readType(file, field, depth + 1)).type;
  }
  return element;
}

/** TypeProto.Map. */
function* readMapType(file: ProtobufFile, type: ProtobufField, depth: number): Reading<string> {
  let key = 0;
  let value = "unknown";
  const fields = file.fields(type.start, type.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    if (field.number === mapTypeProto.keyType) key = field.value;
    else if (field.number === mapTypeProto.valueType) value = (yield* readType(file, field, depth + 1)).type;
  }
  return `map(${onnxTypeName(key)}, ${value})`;
}

/** TypeProto.Tensor and TypeProto.SparseTensor. */
function* readTensorType(file: ProtobufFile, type: ProtobufField): Reading<ValueType> {
  let element = 0;
  let shape: (number | string | null)[] | undefined;
  const fields = file.fields(type.start, type.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    if (field.number === tensorTypeProto.elemType) element = field.value;
    else if (field.number === tensorTypeProto.shape) {
      shape = [];
      const dimensions = file.fields(field.start, field.end);
      for (let dimension = yield* dimensions.next(); dimension !== undefined; dimension = yield* dimensions.next()) {
        if (dimension.number === tensorShapeProto.dim) shape.push(yield* readDimension(file, dimension));
        if (shape.length > maxDimensions) throw new Error(`it has a value of more than ${maxDimensions} dimensions`);
      }
    }
  }
  return { type: onnxTypeName(element), ...omitUndefined({ shape }) };
}

/** TensorShapeProto.Dimension. Some exporters write -1 for a free dimension. */
function* readDimension(file: ProtobufFile, dimension: ProtobufField): Reading<number | string | null> {
  let size: number | string | null = null;
  const fields = file.fields(dimension.start, dimension.end);
  for (let field = yield* fields.next(); field !== undefined; field = yield* fields.next()) {
    if (field.number === dimensionProto.dimValue && field.wireType === 0)
      size = Number.isSafeInteger(field.value) ? field.value : null;
    else if (field.number === dimensionProto.dimParam) size = (yield* file.text(field)) || null;
  }
  return size;
}
