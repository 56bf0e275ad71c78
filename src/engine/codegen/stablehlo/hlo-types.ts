/** Element types, tensor types and constants as StableHLO writes them (https://openxla.org/stablehlo/spec#types). */
import { elementCount } from "../../../contract/tensor.ts";
import { encodeFloat, isStoredAsBits } from "../../../contract/small-floats.ts";
import { type ElementType, elementTypes } from "../../ir/element-types.ts";
import type { Literal } from "../../ir/literal.ts";
import type { TensorType } from "../../ir/tensor-type.ts";

const names: Readonly<Partial<Record<ElementType, string>>> = {
  float32: "f32",
  float64: "f64",
  float16: "f16",
  bfloat16: "bf16",
  float8e4m3fn: "f8E4M3FN",
  float8e4m3fnuz: "f8E4M3FNUZ",
  float8e5m2: "f8E5M2",
  float8e5m2fnuz: "f8E5M2FNUZ",
  int64: "i64",
  int32: "i32",
  int16: "i16",
  int8: "i8",
  uint64: "ui64",
  uint32: "ui32",
  uint16: "ui16",
  uint8: "ui8",
  bool: "i1",
};

/** Thrown for a graph or operation that cannot be expressed in StableHLO. The message names the operation or the type. */
export class UnsupportedInStableHlo extends Error {}

/** The name of an element type, such as "f32". Throws UnsupportedInStableHlo for types that are not used: strings, and numbers below a byte. */
export function elementTypeName(type: ElementType): string {
  const name = names[type];
  if (name === undefined) throw new UnsupportedInStableHlo(`elements of the type ${type}`);
  return name;
}

/** A tensor type, such as "tensor<1x16xf32>". */
export function tensorTypeText({ dataType, shape }: TensorType): string {
  return `tensor<${[...shape, elementTypeName(dataType)].join("x")}>`;
}

/**
 * The `dense` attribute of a constant: its elements as raw bits, so that values are exact. Bools, which StableHLO packs, are written as a flat list.
 */
export function denseText({ dataType, shape, data }: Literal): string {
  if (elementCount(shape) === 0) return "dense<>";
  elementTypeName(dataType);
  if (dataType === "bool") return `dense<[${Array.from(data as Uint8Array, (bit) => String(bit !== 0)).join(", ")}]>`;
  const { buffer, byteOffset, byteLength } = data as Uint8Array;
  return `dense<"0x${Buffer.from(buffer, byteOffset, byteLength).toString("hex").toUpperCase()}">`;
}

/** A scalar constant of a type: the number rounded to the type. Infinities and out-of-range integers become the minimum or maximum of the type. */
export function scalarLiteral(dataType: ElementType, value: number): Literal {
  const { array, kind, bits } = elementTypes[dataType];
  if (isStoredAsBits(dataType))
    return { dataType, shape: [], data: (array as Uint16ArrayConstructor).of(encodeFloat(dataType, value, false)) };
  if (bits === 64 && kind !== "float") {
    const [low, high] = kind === "signed" ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n];
    const whole = Number.isFinite(value) ? BigInt(Math.trunc(value)) : value > 0 ? high : low;
    const bounded = whole < low ? low : whole > high ? high : whole;
    return { dataType, shape: [], data: kind === "signed" ? BigInt64Array.of(bounded) : BigUint64Array.of(bounded) };
  }
  const range =
    kind === "signed" ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : kind === "unsigned" ? [0, 2 ** bits - 1] : undefined;
  const [low, high] = range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const bounded = kind === "bool" ? Number(value !== 0) : Math.min(Math.max(value, low ?? value), high ?? value);
  return { dataType, shape: [], data: (array as Float64ArrayConstructor).of(bounded) };
}
