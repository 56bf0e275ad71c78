/** Element types of ONNX tensors (TensorProto.DataType in https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3). */
import type { Precision } from "../../contract/backend.ts";

/** An element type of ONNX tensors. */
export interface OnnxTypeProto {
  /** The name of the type in `tensor.ts` if it has one there, else the one in onnx.proto3 in lower case without underscores. */
  readonly name: string;
  /** Bits of one element; 0 for strings, whose size varies. */
  readonly bits: number;
  /** Precision of a model whose weights have this type. Absent if such models have no name here. */
  readonly precision?: Precision;
}

const types: ReadonlyMap<number, OnnxTypeProto> = new Map<number, OnnxTypeProto>([
  [1, { name: "float32", bits: 32, precision: "fp32" }],
  [2, { name: "uint8", bits: 8, precision: "int8" }],
  [3, { name: "int8", bits: 8, precision: "int8" }],
  [4, { name: "uint16", bits: 16 }],
  [5, { name: "int16", bits: 16 }],
  [6, { name: "int32", bits: 32 }],
  [7, { name: "int64", bits: 64 }],
  [8, { name: "string", bits: 0 }],
  [9, { name: "bool", bits: 8 }],
  [10, { name: "float16", bits: 16, precision: "fp16" }],
  [11, { name: "float64", bits: 64 }],
  [12, { name: "uint32", bits: 32 }],
  [13, { name: "uint64", bits: 64 }],
  [14, { name: "complex64", bits: 64 }],
  [15, { name: "complex128", bits: 128 }],
  [16, { name: "bfloat16", bits: 16, precision: "bf16" }],
  [17, { name: "float8e4m3fn", bits: 8 }],
  [18, { name: "float8e4m3fnuz", bits: 8 }],
  [19, { name: "float8e5m2", bits: 8 }],
  [20, { name: "float8e5m2fnuz", bits: 8 }],
  [21, { name: "uint4", bits: 4, precision: "int4" }],
  [22, { name: "int4", bits: 4, precision: "int4" }],
  [23, { name: "float4e2m1", bits: 4 }],
  [24, { name: "float8e8m0", bits: 8 }],
  [25, { name: "uint2", bits: 2 }],
  [26, { name: "int2", bits: 2 }],
]);

/** The element type with this number in TensorProto.DataType, or undefined for a number of a later version of the format. */
export function onnxType(number: number): OnnxTypeProto | undefined {
  return types.get(number);
}

/** The number in TensorProto.DataType of the element type with this name. Throws TypeError for a name that ONNX does not have. */
export function onnxTypeNumber(name: string): number {
  for (const [number, type] of types) if (type.name === name) return number;
  throw new TypeError(`ONNX has no type of elements "${name}"`);
}

/**
 * The name of an ONNX element type for messages: "unknown" for 0, and "type 99" (with the number) for a number of a later version
 * of the format.
 */
export function onnxTypeName(number: number): string {
  return types.get(number)?.name ?? (number === 0 ? "unknown" : `type ${number}`);
}
