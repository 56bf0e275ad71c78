/** Data types of the Open Inference Protocol and the corresponding ones of `Tensor`. */
import { required } from "../../../contract/checked.ts";
import type { DataType } from "../../../contract/tensor.ts";

const dataTypes = {
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
} as const;

/** A data type of the protocol. */
export type Datatype = keyof typeof dataTypes;

/** Data types of the protocol. */
export const datatypes: readonly Datatype[] = Object.keys(dataTypes) as Datatype[];

/** Our data type for one of the protocol. */
export function toDataType(datatype: Datatype): DataType {
  return dataTypes[datatype];
}

/** The protocol's data type for one of ours. */
export function toDatatype(dataType: DataType): Datatype {
  return required(
    datatypes.find((datatype) => dataTypes[datatype] === dataType),
    `the protocol's name of ${dataType}`,
  );
}
