/** TensorProto: one tensor of an ONNX file, described without reading its elements. */
import { onnxType, onnxTypeName } from "./onnx-types.ts";
import type { ProtobufField, ProtobufFile } from "../protobuf/protobuf-file.ts";

export interface OnnxTensorOutline {
  readonly name: string;
  /** TensorProto.DataType. */
  readonly type: number;
  readonly shape: readonly number[];
  readonly elements: number;
  /** Bytes of the elements, in the file or beside it. */
  readonly bytes: number;
  /** Where the elements lie when not in the file itself: the path as the graph names it, and the end of their range there. */
  readonly external?: { readonly location: string; readonly end: number };
}

/** Far above what any operator takes. */
const maxDimensions = 256;

/** Fields with elements, and the fewest bytes an element takes in each: packed numbers of 4 bits share one varint of one byte. */
const elementFields: ReadonlyMap<number, number> = new Map([
  [4, 4], // float_data
  [5, 0.25], // int32_data, which also holds the types below 32 bits
  [7, 1], // int64_data
  [10, 8], // double_data
  [11, 1], // uint64_data
]);
const stringData = 6;
const rawData = 9;

/** Throws Error where the shape is impossible or more elements are claimed than are stored. */
export async function readOnnxTensor(file: ProtobufFile, tensor: ProtobufField): Promise<OnnxTensorOutline> {
  const shape: number[] = [];
  let name = "";
  let type = 0;
  let raw: number | undefined;
  let strings = 0;
  let mostElements = 0;
  const external = new Map<string, string>();
  for await (const field of file.fields(tensor.start, tensor.end)) {
    const length = field.end - field.start;
    const least = elementFields.get(field.number);
    if (field.number === 1) shape.push(...(await file.numbers(field)));
    else if (field.number === 2) type = field.value;
    else if (field.number === 8) name = await file.text(field);
    else if (field.number === 13) external.set(...(await readOnnxEntry(file, field)));
    else if (field.number === rawData) raw = length;
    else if (field.number === stringData) {
      strings += length;
      mostElements += 1;
    } else if (least !== undefined) mostElements += length / least;
    if (shape.length > maxDimensions) throw new Error(`it has a tensor of ${shape.length} dimensions at byte ${tensor.start}`);
  }
  const elements = shape.reduce((product, dimension) => product * dimension, 1);
  const bits = onnxType(type)?.bits ?? 0;
  const bytes = type === 8 ? strings : Math.ceil((elements * bits) / 8);
  if (!Number.isSafeInteger(elements) || !Number.isSafeInteger(bytes)) {
    throw new Error(`the tensor ${quote(name)} has the impossible shape [${shape.slice(0, 8).join(", ")}]`);
  }
  const described = { name, type, shape, elements, bytes };
  const location = external.get("location");
  if (location !== undefined) {
    const end = wholeNumber(external.get("offset"), name) + wholeNumber(external.get("length"), name);
    return { ...described, external: { location, end } };
  }
  if (raw === undefined ? elements > mostElements : raw < bytes) {
    const stored = raw === undefined ? `at most ${mostElements}` : `${raw} bytes`;
    throw new Error(
      `the tensor ${quote(name)} has the shape [${shape.slice(0, 8).join(", ")}] of ${onnxTypeName(type)}, and stores ${stored}`,
    );
  }
  return described;
}

/** StringStringEntryProto: key 1, value 2. */
export async function readOnnxEntry(file: ProtobufFile, entry: ProtobufField): Promise<[key: string, value: string]> {
  let key = "";
  let value = "";
  for await (const field of file.fields(entry.start, entry.end)) {
    if (field.number === 1) key = await file.text(field);
    else if (field.number === 2) value = await file.text(field);
  }
  return [key, value];
}

function wholeNumber(text: string | undefined, name: string): number {
  const number = Number(text ?? 0);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`the tensor ${quote(name)} names a range of another file that is no number`);
}

/** A name out of the file, for a message: however long and odd it is. */
function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}
