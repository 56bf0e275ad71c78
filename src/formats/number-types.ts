/** Number types of files and of C structs: their size, and access to a number in bytes. */

/** Name of a number type. */
export type NumberTypeName =
  | "int8"
  | "uint8"
  | "int16"
  | "uint16"
  | "int32"
  | "uint32"
  | "int64"
  | "uint64"
  | "float32"
  | "float64";

/** A number type. Integers of 64 bits are bigints when they are read. */
export interface NumberType {
  readonly bytes: 1 | 2 | 4 | 8;
  read(view: DataView, offset: number, littleEndian: boolean): number | bigint;
  /** Writes a number, or the number that a text states. */
  write(view: DataView, offset: number, value: number | bigint | boolean | string, littleEndian: boolean): void;
}

function numberType(
  bytes: NumberType["bytes"],
  name: "Int8" | "Uint8" | "Int16" | "Uint16" | "Int32" | "Uint32" | "Float32" | "Float64",
): NumberType {
  const [get, set] = [`get${name}`, `set${name}`] as const;
  return {
    bytes,
    read: (view, offset, littleEndian) => view[get](offset, littleEndian),
    write: (view, offset, value, littleEndian) => view[set](offset, Number(value), littleEndian),
  };
}

function wideType(name: "BigInt64" | "BigUint64"): NumberType {
  const [get, set] = [`get${name}`, `set${name}`] as const;
  return {
    bytes: 8,
    read: (view, offset, littleEndian) => view[get](offset, littleEndian),
    write: (view, offset, value, littleEndian) => view[set](offset, BigInt(value), littleEndian),
  };
}

/** The number types by their names. */
export const numberTypes: Readonly<Record<NumberTypeName, NumberType>> = {
  int8: numberType(1, "Int8"),
  uint8: numberType(1, "Uint8"),
  int16: numberType(2, "Int16"),
  uint16: numberType(2, "Uint16"),
  int32: numberType(4, "Int32"),
  uint32: numberType(4, "Uint32"),
  int64: wideType("BigInt64"),
  uint64: wideType("BigUint64"),
  float32: numberType(4, "Float32"),
  float64: numberType(8, "Float64"),
};
