/** Converts between nested JSON arrays and tensors. */
import { decodeFloat16, encodeFloat16 } from "../../contract/float16.ts";
import { decodeFloat } from "../../contract/small-floats.ts";
import { type InferyardError, invalidInput } from "../../contract/errors.ts";
import { type DataType, type Tensor, type TensorInfo, zeros } from "../../contract/tensor.ts";
import { shortFloat } from "../output/units.ts";

/** Numbers that JSON cannot represent, by the strings used for them. */
const nonFiniteNumbers: ReadonlyMap<unknown, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

/** More than any operator supports; deeper nesting would overflow the stack. */
const maxDimensions = 64;

/** Ranges of integer types; those of 64 bits are checked as bigints. */
const ranges: Readonly<Partial<Record<DataType, readonly [min: number, max: number]>>> = {
  int8: [-128, 127],
  int16: [-32_768, 32_767],
  int32: [-2_147_483_648, 2_147_483_647],
  uint8: [0, 255],
  uint16: [0, 65_535],
  uint32: [0, 4_294_967_295],
};

/**
 * A tensor of the type in `info`; its shape is not compared with the model's. Integers beyond 2^53 and non-finite numbers are strings. Throws
 * INPUT_INVALID, with the input's name and the index of the value, for ragged arrays and for values that the type cannot represent.
 */
export function tensorOfJson(json: unknown, info: Pick<TensorInfo, "name" | "dataType">): Tensor {
  const shape = getShape(json, info.name);
  const leaves: unknown[] = [];
  flatten(json, shape, info.name, [], leaves);
  const wrong = (index: number): InferyardError => wrongValue(leaves[index], info, indexOfElement(index, shape));
  const { dataType } = info;
  if (dataType === "string") {
    const data = leaves.map((leaf, index) => {
      if (typeof leaf !== "string") throw wrong(index);
      return leaf;
    });
    return { dataType, shape, data };
  }
  const tensor = zeros(dataType, shape);
  const { data } = tensor;
  for (const [index, leaf] of leaves.entries()) {
    if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
      const whole = getWhole(leaf);
      if (whole === undefined) throw wrong(index);
      data[index] = whole;
      if (data[index] !== whole) throw wrong(index); // it wrapped
    } else if (ArrayBuffer.isView(data)) {
      const bits = getElement(leaf, dataType);
      if (bits === undefined) throw wrong(index);
      data[index] = bits;
    }
  }
  return tensor;
}

/** By the first element of each level; `flatten` holds the others against it. */
function getShape(json: unknown, name: string): number[] {
  const shape: number[] = [];
  for (let level = json; Array.isArray(level); level = level[0] as unknown) {
    shape.push(level.length);
    if (shape.length > maxDimensions) throw invalidInput(`input "${name}" is nested too deep`);
  }
  return shape;
}

function flatten(json: unknown, shape: readonly number[], name: string, place: readonly number[], leaves: unknown[]): void {
  const size = shape[place.length];
  const length = Array.isArray(json) ? json.length : undefined;
  if (length !== size) {
    const where = place.length === 0 ? "" : ` at [${place.join("][")}]`;
    const found = length === undefined ? "a single value" : `${length} values`;
    const wanted = size === undefined ? "a single value" : `${size} values`;
    throw invalidInput(
      `input "${name}" is ragged: ${found}${where}, and ${wanted} in the first place`,
      "give every row the same length",
    );
  }
  if (!Array.isArray(json)) leaves.push(json);
  else
    for (const [index, part] of json.entries()) {
      if (place.length + 1 === shape.length && !Array.isArray(part)) leaves.push(part);
      else flatten(part, shape, name, [...place, index], leaves);
    }
}

/** undefined where the value is none of this type. */
function getElement(leaf: unknown, dataType: DataType): number | undefined {
  if (dataType === "bool") return leaf === true || leaf === 1 ? 1 : leaf === false || leaf === 0 ? 0 : undefined;
  const value = typeof leaf === "number" ? leaf : dataType.startsWith("float") ? nonFiniteNumbers.get(leaf) : undefined;
  if (value === undefined) return undefined;
  const range = ranges[dataType];
  if (range !== undefined) return Number.isInteger(value) && value >= range[0] && value <= range[1] ? value : undefined;
  if (dataType === "float16") return fits(value, decodeFloat16(encodeFloat16(value))) ? encodeFloat16(value) : undefined;
  if (dataType === "float32") return fits(value, Math.fround(value)) ? value : undefined;
  return dataType === "float64" ? value : undefined;
}

/** Whether a value fits its data type. Rounding is allowed; overflow of a finite number to infinity is not. */
function fits(value: number, rounded: number): boolean {
  return !Number.isFinite(value) || Number.isFinite(rounded);
}

function getWhole(leaf: unknown): bigint | undefined {
  if (typeof leaf === "number") return Number.isSafeInteger(leaf) ? BigInt(leaf) : undefined;
  return typeof leaf === "string" && /^-?\d{1,20}$/.test(leaf) ? BigInt(leaf) : undefined;
}

function indexOfElement(index: number, shape: readonly number[]): readonly number[] {
  const place: number[] = [];
  let rest = index;
  for (const size of shape.toReversed()) {
    place.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return place;
}

function wrongValue(leaf: unknown, info: Pick<TensorInfo, "name" | "dataType">, place: readonly number[]): InferyardError {
  const where = place.length === 0 ? "" : ` at [${place.join("][")}]`;
  const shown = JSON.stringify(leaf).slice(0, 40);
  const unsafe = typeof leaf === "number" && Number.isInteger(leaf) && !Number.isSafeInteger(leaf);
  return invalidInput(
    `input "${info.name}" holds ${shown}${where}, which is no ${info.dataType}`,
    unsafe ? 'write whole numbers beyond 2^53 as strings: "9007199254740993"' : `the model takes ${info.dataType} there`,
  );
}

/** A tensor as JSON. */
export interface JsonTensor {
  readonly dtype: DataType;
  readonly shape: readonly number[];
  /** Elements in row-major order. Integers beyond 2^53, NaN and infinities are strings. */
  readonly data: readonly (number | string | boolean)[];
}

/** The tensor as JSON. `max`: number of leading values to include. Default: all. */
export function jsonOfTensor({ dataType, shape, data }: Tensor, max: number = data.length): JsonTensor {
  const values = data.slice(0, max);
  const shown = Array.from<string | number | bigint, number | string | boolean>(values, (value) => {
    if (typeof value === "string") return value;
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    if (dataType === "bool") return value !== 0;
    const number =
      dataType === "float16" ? decodeFloat16(value) : dataType === "bfloat16" ? decodeFloat("bfloat16", value) : value;
    return Number.isFinite(number) ? shortest(number, dataType) : String(number);
  });
  return { dtype: dataType, shape, data: shown };
}

function shortest(value: number, dataType: DataType): number {
  return dataType === "float32" ? shortFloat(value) : value;
}
