/** Tensor data as JSON: numbers, booleans and strings, flat or nested. */
import { type InferyardError, invalidInput, unsupportedModel } from "../../../contract/errors.ts";
import { type Tensor, type TensorData, elementCount } from "../../../contract/tensor.ts";
import { type Datatype, toDataType } from "./datatypes.ts";

/** Smallest and largest integer of each type; those of 64 bits are limited by the precision of JSON numbers. */
const ranges: Readonly<Partial<Record<Datatype, readonly [number, number]>>> = {
  UINT8: [0, 255],
  UINT16: [0, 65_535],
  UINT32: [0, 4_294_967_295],
  UINT64: [0, Number.MAX_SAFE_INTEGER],
  INT8: [-128, 127],
  INT16: [-32_768, 32_767],
  INT32: [-2_147_483_648, 2_147_483_647],
  INT64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

/**
 * Reads a tensor from flat or nested arrays. Throws INPUT_INVALID for an element that does not fit the type, and for data that does not match the
 * shape.
 */
export function tensorFromJson(name: string, datatype: Datatype, shape: readonly number[], data: readonly unknown[]): Tensor {
  const expected = elementCount(shape);
  const values: unknown[] = [];
  const count = flatten(data, values, expected);
  if (count !== expected)
    throw invalid(`input "${name}" has ${count} elements, and its shape [${shape.join(", ")}] needs ${expected}`);
  return { dataType: toDataType(datatype), shape, data: toElements(name, datatype, values) };
}

/** Counts the elements of nested arrays and appends the first `max` of them to `values`. The nesting depth was checked when the body was read. */
function flatten(data: readonly unknown[], values: unknown[], max: number, before = 0): number {
  let count = before;
  for (const value of data) {
    if (Array.isArray(value)) count = flatten(value, values, max, count);
    else {
      if (count < max) values.push(value);
      count += 1;
    }
  }
  return count;
}

const numberArrays = {
  UINT8: Uint8Array,
  UINT16: Uint16Array,
  UINT32: Uint32Array,
  UINT64: { from: (numbers: readonly number[]) => BigUint64Array.from(numbers, BigInt) },
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  INT64: { from: (numbers: readonly number[]) => BigInt64Array.from(numbers, BigInt) },
  FP32: Float32Array,
  FP64: Float64Array,
} as const;

function toElements(name: string, datatype: Datatype, values: readonly unknown[]): TensorData {
  if (datatype === "BYTES") return values.map((value) => toText(name, value));
  if (datatype === "BOOL") return Uint8Array.from(values, (value) => (toBoolean(name, value) ? 1 : 0));
  if (datatype === "FP16" || datatype === "BF16")
    throw invalid(`input "${name}" is ${datatype}, which JSON cannot represent: send it as binary data`);
  const numbers = values.map((value) => toNumber(name, datatype, value));
  return numberArrays[datatype].from(numbers);
}

function toNumber(name: string, datatype: Datatype, value: unknown): number {
  const [min, max] = ranges[datatype] ?? [-Infinity, Infinity];
  const whole = ranges[datatype] === undefined || Number.isInteger(value);
  if (typeof value === "number" && whole && value >= min && value <= max) return value;
  throw invalid(
    `input "${name}" is ${datatype}, and ${shown(value)} is none${datatype.endsWith("64") ? " that JSON can represent" : ""}`,
  );
}

function toBoolean(name: string, value: unknown): boolean {
  if (value === true || value === 1) return true;
  if (value === false || value === 0) return false;
  throw invalid(`input "${name}" is BOOL, and ${shown(value)} is neither true nor false`);
}

function toText(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw invalid(`input "${name}" is BYTES, and ${shown(value)} is no string`);
}

function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) return "an object";
  const words = typeof value === "string" ? value.slice(0, 40) : value;
  return JSON.stringify(words)?.slice(0, 40) ?? "nothing";
}

/** The data of an output as a flat array. Throws MODEL_UNSUPPORTED for values that JSON cannot represent. */
export function tensorToJson(name: string, { dataType, data }: Tensor): readonly (number | string | boolean)[] {
  if (dataType === "float16" || dataType === "bfloat16")
    throw unsupported(`output "${name}" is ${dataType}, which JSON cannot represent`);
  if (!ArrayBuffer.isView(data)) return data;
  if (dataType === "bool") return Array.from(data as Uint8Array, (value) => value !== 0);
  return Array.from<number | bigint, number>(data as ArrayLike<number | bigint>, (value) => {
    const number = Number(value);
    if (typeof value === "bigint" ? Number.isSafeInteger(number) : Number.isFinite(number)) return number;
    throw unsupported(`output "${name}" has ${String(value)}, which JSON cannot represent`);
  });
}

/** Remedy of errors for invalid requests. */
export const metadataRemedy = "GET the model's metadata for what it takes";

/** The error for an invalid request. */
export function invalid(message: string): InferyardError {
  return invalidInput(message, metadataRemedy);
}

/** The error for values that JSON, or the rows of a response, cannot represent. */
export function unsupported(message: string): InferyardError {
  return unsupportedModel(message, "ask for it as binary data: parameters.binary_data");
}
