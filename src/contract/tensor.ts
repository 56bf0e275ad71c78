/** Tensors as plain data, and the checks that every backend makes on its inputs. */
import { InferyardError, invalidInput } from "./errors.ts";

/** Element types. float16 and bfloat16 are stored as their 16 bits in a Uint16Array, bool as one byte that is 0 or 1. */
export type DataType =
  | "float32"
  | "float64"
  | "float16"
  | "bfloat16"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "bool"
  | "string";

/** Elements of a tensor in row-major order; an array of strings for the type "string". */
export type TensorData =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | readonly string[];

/** A dense tensor in row-major order. `data` has as many elements as the product of `shape`. A scalar has the shape `[]`. */
export interface Tensor {
  readonly dataType: DataType;
  readonly shape: readonly number[];
  readonly data: TensorData;
}

/** Tensors by the name of the input or output. */
export type TensorMap = Readonly<Record<string, Tensor>>;

/**
 * Description of one input or output. In `shape`, a number is a fixed dimension and a string is a named free dimension ("" if
 * it has no name). An empty shape is a scalar or a shape that the file does not state; engines do not distinguish the two, so
 * any shape is accepted.
 */
export interface TensorInfo {
  readonly name: string;
  readonly dataType: DataType;
  readonly shape: readonly (number | string)[];
}

/** Names that exporters write for dimensions without a name: Paddle "?", TensorFlow "unk__6", Python "None", a size of -1 as text. */
const anonymousName = /^(\?|none|null|unknown|unk__\d+|-\d+)?$/i;
/** Value that onnxruntime-web reports for the free size -1, as an unsigned 32-bit integer. */
const unsignedFree = 2 ** 32 - 1;

/**
 * A dimension as model metadata states it, in the form of `TensorInfo.shape`. Negative sizes, 2^32 - 1, a missing size and names that stand for no name
 * ("?", "None", "unk__6") become "": two such dimensions may differ.
 */
export function getDimension(stated: number | string | null | undefined): number | string {
  if (typeof stated === "number") return stated < 0 || stated === unsignedFree ? "" : stated;
  return anonymousName.test(stated ?? "") ? "" : (stated ?? "");
}

const arrayTypes = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
  string: Array,
} as const satisfies Record<DataType, unknown>;

/** The names of all element types. */
export const dataTypes: ReadonlySet<string> = new Set(Object.keys(arrayTypes));

/** Bytes of one element; not of the type "string". */
export function elementBytes(dataType: Exclude<DataType, "string">): number {
  return arrayTypes[dataType].BYTES_PER_ELEMENT;
}

/** The elements in bytes of this machine's order; not of the type "string". */
export function viewBytes(dataType: Exclude<DataType, "string">, bytes: ArrayBuffer): TensorData {
  return new arrayTypes[dataType](bytes);
}

/** Number of elements of a shape: the product of its dimensions; 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, dimension) => product * dimension, 1);
}

/** A tensor of zeros; of empty strings for the type "string". */
export function zeros(dataType: DataType, shape: readonly number[]): Tensor {
  const count = elementCount(shape);
  const data = dataType === "string" ? Array.from({ length: count }, () => "") : new arrayTypes[dataType](count);
  return { dataType, shape, data };
}

/**
 * The buffers of the tensors, for the transfer list of postMessage. Views into larger buffers are left out and are copied
 * instead.
 */
export function transferables(tensors: TensorMap): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const { data } of Object.values(tensors)) {
    if (!ArrayBuffer.isView(data)) continue;
    const { buffer } = data;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === data.byteLength) buffers.add(buffer);
  }
  return [...buffers];
}

/**
 * Checks inputs against a model's description. Throws one INPUT_INVALID that lists every problem: a missing or unknown name, a
 * wrong data type, rank or dimension, data that does not fill the shape, or two sizes for one named dimension.
 */
export function checkInputs(expected: readonly TensorInfo[], given: TensorMap): void {
  const problems: string[] = [];
  const named = new Map<string, { size: number; input: string }>();
  for (const name of Object.keys(given)) {
    if (expected.some((input) => input.name === name)) continue;
    problems.push(`unknown input "${name}" (this model takes ${expected.map((input) => input.name).join(", ")})`);
  }
  for (const info of expected) {
    const tensor: Tensor | null | undefined = Object.hasOwn(given, info.name) ? given[info.name] : undefined;
    if (tensor === undefined || tensor === null) problems.push(`missing input "${info.name}" (${describeInfo(info)})`);
    else problems.push(...mismatches(info, tensor, named));
  }
  if (problems.length > 0) throw new InferyardError("INPUT_INVALID", problems.join("; "), { data: { problems } });
}

/** Names of the outputs of a run: those that are wanted; all if none is named. Throws INPUT_INVALID for an output that the model does not have. */
export function checkOutputs(outputs: readonly TensorInfo[], wanted: readonly string[] | undefined): readonly string[] {
  const names = outputs.map(({ name }) => name);
  const unknown = wanted?.find((name) => !names.includes(name));
  if (unknown === undefined) return wanted ?? names;
  throw invalidInput(`the model has no output "${unknown}"`, `ask for ${names.join(", ")}`);
}

/**
 * Throws INPUT_INVALID for tensors that lack one of the fields dataType, shape and data, before they are copied to another thread, which changes objects of
 * other libraries.
 */
export function refuseMalformedTensors(given: TensorMap): void {
  const problems = Object.entries(given).flatMap(([name, tensor]: readonly [string, unknown]) => {
    const problem = tensor === undefined || tensor === null ? undefined : missingFields(tensor); // a missing input is found by `checkInputs`
    return problem === undefined ? [] : [`input "${name}" ${problem}`];
  });
  if (problems.length > 0) throw new InferyardError("INPUT_INVALID", problems.join("; "), { data: { problems } });
}

/** What a value lacks to be a tensor, as the end of a sentence; undefined if it has all fields. */
function missingFields(value: unknown): string | undefined {
  const form = "write { dataType, shape, data }";
  if (typeof value !== "object" || value === null) return `is not a tensor: ${form}`;
  const { dataType, shape, data, type, dims } = value as Readonly<Record<string, unknown>>;
  if (dataType === undefined && type !== undefined && dims !== undefined) {
    return "is a tensor of onnxruntime with the fields type and dims: write dataType for type, and shape for dims";
  }
  if (dataType === undefined) return `has no dataType: ${form}`;
  if (!Array.isArray(shape)) return `has no shape: ${form}, with shape as an array of whole numbers`;
  return data === undefined ? `has no data: ${form}` : undefined;
}

/** Maximum dimension. Beside a dimension of 0, another one could have any size without data, and engines would iterate over it. */
const maxDimension = 2 ** 31 - 1;

function mismatches(info: TensorInfo, tensor: Tensor, named: Map<string, { size: number; input: string }>): string[] {
  const label = `input "${info.name}"`;
  const malformed = missingFields(tensor);
  if (malformed !== undefined) return [`${label} ${malformed}`];
  if (tensor.dataType !== info.dataType) return [`${label} is ${tensor.dataType}, and the model takes ${info.dataType}`];
  if (!holds(tensor.data, info.dataType)) return [`${label} does not hold ${info.dataType} data`];
  if (info.shape.length > 0 && tensor.shape.length !== info.shape.length) {
    return [`${label} has shape [${tensor.shape.join(", ")}], and the model takes ${describeInfo(info)}`];
  }
  if (tensor.shape.some((dimension) => !Number.isSafeInteger(dimension) || dimension < 0 || dimension > maxDimension)) {
    return [`${label} has shape [${tensor.shape.join(", ")}], which is not a list of whole numbers from 0 to ${maxDimension}`];
  }
  const problems: string[] = [];
  for (const [axis, wanted] of info.shape.map(getDimension).entries()) {
    const size = tensor.shape[axis] ?? 0;
    if (typeof wanted === "number") {
      if (size !== wanted) problems.push(`${label} has ${size} at axis ${axis}, and the model takes ${describeInfo(info)}`);
      continue;
    }
    const seen = named.get(wanted);
    if (wanted !== "" && seen === undefined) named.set(wanted, { size, input: info.name });
    else if (seen !== undefined && seen.size !== size) {
      problems.push(`"${wanted}" is ${seen.size} in "${seen.input}" and ${size} in "${info.name}"`);
    }
  }
  const needed = elementCount(tensor.shape);
  if (tensor.data.length !== needed) {
    problems.push(`${label} has ${tensor.data.length} elements, and its shape [${tensor.shape.join(", ")}] needs ${needed}`);
  }
  return problems;
}

function holds(data: TensorData, dataType: DataType): boolean {
  if (!(data instanceof arrayTypes[dataType])) return false;
  return !Array.isArray(data) || data.every((text) => typeof text === "string");
}

/** Description of an input or output for messages: "float32 [batch, 3]". */
export function describeInfo(info: TensorInfo): string {
  return `${info.dataType} [${info.shape.map((dimension) => (dimension === "" ? "?" : dimension)).join(", ")}]`;
}

/** Index of the first NaN or infinity in a floating-point tensor; -1 if there is none or the type is not floating-point. */
export function firstNonFinite(tensor: Tensor): number {
  const { data } = tensor;
  if (data instanceof Float32Array || data instanceof Float64Array) return data.findIndex((value) => !Number.isFinite(value));
  if (data instanceof Uint16Array && tensor.dataType === "float16") return data.findIndex((bits) => (bits & 0x7c00) === 0x7c00);
  if (data instanceof Uint16Array && tensor.dataType === "bfloat16") return data.findIndex((bits) => (bits & 0x7f80) === 0x7f80);
  return -1;
}
