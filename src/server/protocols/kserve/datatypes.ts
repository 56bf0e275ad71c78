/** The element types of the Open Inference Protocol, and ours. */
import type { DataType } from "../../../tensor.ts";

export const datatypes = [
  "BOOL",
  "UINT8",
  "UINT16",
  "UINT32",
  "UINT64",
  "INT8",
  "INT16",
  "INT32",
  "INT64",
  "FP16",
  "BF16",
  "FP32",
  "FP64",
  "BYTES",
] as const;

export type Datatype = (typeof datatypes)[number];

const own: Readonly<Record<Datatype, DataType>> = {
  BOOL: "bool",
  UINT8: "uint8",
  UINT16: "uint16",
  UINT32: "uint32",
  UINT64: "uint64",
  INT8: "int8",
  INT16: "int16",
  INT32: "int32",
  INT64: "int64",
  FP16: "float16",
  BF16: "bfloat16",
  FP32: "float32",
  FP64: "float64",
  BYTES: "string",
};

export function dataTypeOf(datatype: Datatype): DataType {
  return own[datatype];
}

export function datatypeOf(dataType: DataType): Datatype {
  const found = datatypes.find((datatype) => own[datatype] === dataType);
  return found ?? "BYTES"; // every type of ours is in the table: the compiler holds the two together by `own`
}
