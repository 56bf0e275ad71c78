/** Element types of the engine: those of tensors in the public API, and the types below a byte and of 8 bits that occur only inside models. */
import type { DataType } from "../../contract/tensor.ts";

/**
 * An element type. Types below a byte take one array element each. Floating-point types of 16 bits and fewer are stored as their bit patterns in
 * unsigned integers.
 */
export type ElementType =
  | DataType
  | "float8e4m3fn"
  | "float8e4m3fnuz"
  | "float8e5m2"
  | "float8e5m2fnuz"
  | "float8e8m0"
  | "float4e2m1"
  | "int4"
  | "uint4"
  | "int2"
  | "uint2";

type ElementKind = "float" | "signed" | "unsigned" | "bool" | "string";

interface ElementFacts {
  readonly kind: ElementKind;
  /** Bits of one element in a model file, where elements below a byte are packed; 0 for strings. */
  readonly bits: number;
  /** Constructor of the array that holds the elements, one per index. */
  readonly array:
    | Float32ArrayConstructor
    | Float64ArrayConstructor
    | Int8ArrayConstructor
    | Int16ArrayConstructor
    | Int32ArrayConstructor
    | BigInt64ArrayConstructor
    | Uint8ArrayConstructor
    | Uint16ArrayConstructor
    | Uint32ArrayConstructor
    | BigUint64ArrayConstructor
    | ArrayConstructor;
}

/** Properties of every element type. */
export const elementTypes: Readonly<Record<ElementType, ElementFacts>> = {
  float32: { kind: "float", bits: 32, array: Float32Array },
  float64: { kind: "float", bits: 64, array: Float64Array },
  float16: { kind: "float", bits: 16, array: Uint16Array },
  bfloat16: { kind: "float", bits: 16, array: Uint16Array },
  float8e4m3fn: { kind: "float", bits: 8, array: Uint8Array },
  float8e4m3fnuz: { kind: "float", bits: 8, array: Uint8Array },
  float8e5m2: { kind: "float", bits: 8, array: Uint8Array },
  float8e5m2fnuz: { kind: "float", bits: 8, array: Uint8Array },
  float8e8m0: { kind: "float", bits: 8, array: Uint8Array },
  float4e2m1: { kind: "float", bits: 4, array: Uint8Array },
  int64: { kind: "signed", bits: 64, array: BigInt64Array },
  int32: { kind: "signed", bits: 32, array: Int32Array },
  int16: { kind: "signed", bits: 16, array: Int16Array },
  int8: { kind: "signed", bits: 8, array: Int8Array },
  int4: { kind: "signed", bits: 4, array: Int8Array },
  int2: { kind: "signed", bits: 2, array: Int8Array },
  uint64: { kind: "unsigned", bits: 64, array: BigUint64Array },
  uint32: { kind: "unsigned", bits: 32, array: Uint32Array },
  uint16: { kind: "unsigned", bits: 16, array: Uint16Array },
  uint8: { kind: "unsigned", bits: 8, array: Uint8Array },
  uint4: { kind: "unsigned", bits: 4, array: Uint8Array },
  uint2: { kind: "unsigned", bits: 2, array: Uint8Array },
  bool: { kind: "bool", bits: 8, array: Uint8Array },
  string: { kind: "string", bits: 0, array: Array },
};

/** Whether the type is a floating-point type of any width. */
export function isFloat(type: ElementType): boolean {
  return elementTypes[type].kind === "float";
}

/** The smallest and the largest value of an integer type; undefined for other types. */
export function integerRange(type: ElementType): readonly [min: number, max: number] | undefined {
  const { kind, bits } = elementTypes[type];
  if (kind === "signed") return [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
  return kind === "unsigned" ? [0, 2 ** bits - 1] : undefined;
}

/** Whether elements of the type are JavaScript bigints: int64 and uint64. */
export function isBigIntType(type: ElementType): type is "int64" | "uint64" {
  return type === "int64" || type === "uint64";
}
