/** Layouts of C structs as tables, and access to the fields of a struct in its bytes. Little-endian, as every machine that Inferyard runs on. */
import { InferyardError } from "../../contract/errors.ts";

/** The type of a field. `bool` is one byte; enumerations of C are `int32`. */
export type FieldType =
  | "bool"
  | "int8"
  | "uint8"
  | "int16"
  | "uint16"
  | "int32"
  | "uint32"
  | "int64"
  | "uint64"
  | "float32"
  | "float64"
  | "pointer";

/** A field of a struct. */
export interface StructField {
  /** Bytes from the start of the struct. */
  readonly offset: number;
  readonly type: FieldType;
}

/** Offsets of the fields of a C struct on machines with pointers of 64 bits. */
export interface StructLayout {
  readonly name: string;
  /** Bytes, padding included. */
  readonly size: number;
  /** Bytes. */
  readonly alignment: number;
  readonly fields: Readonly<Record<string, StructField>>;
}

/** The value of a field: bigint for 64-bit integers and pointers. */
export type FieldValue = number | bigint | boolean;

/** Bytes of each type. */
export const fieldSizes: Readonly<Record<FieldType, number>> = {
  bool: 1,
  int8: 1,
  uint8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  float32: 4,
  float64: 8,
  pointer: 8,
};

/** The layout that a C compiler gives a struct: fields in this order, each at the next multiple of its size. `start`: offset of the first. */
export function layOut(name: string, fields: readonly (readonly [name: string, type: FieldType])[]): StructLayout {
  const placed: Record<string, StructField> = {};
  let end = 0;
  let alignment = 1;
  for (const [field, type] of fields) {
    const bytes = fieldSizes[type];
    const offset = roundUp(end, bytes);
    placed[field] = { offset, type };
    end = offset + bytes;
    alignment = Math.max(alignment, bytes);
  }
  return { name, size: roundUp(end, alignment), alignment, fields: placed };
}

const roundUp = (value: number, multiple: number): number => Math.ceil(value / multiple) * multiple;

/** The value of a field in the bytes of a struct. Throws CONTRACT_VIOLATION if the layout has no such field. */
export function readField(layout: StructLayout, bytes: Uint8Array, name: string): FieldValue {
  const { offset, type } = getField(layout, name);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (type) {
    case "bool":
      return view.getUint8(offset) !== 0;
    case "int8":
      return view.getInt8(offset);
    case "uint8":
      return view.getUint8(offset);
    case "int16":
      return view.getInt16(offset, true);
    case "uint16":
      return view.getUint16(offset, true);
    case "int32":
      return view.getInt32(offset, true);
    case "uint32":
      return view.getUint32(offset, true);
    case "int64":
      return view.getBigInt64(offset, true);
    case "uint64":
    case "pointer":
      return view.getBigUint64(offset, true);
    case "float32":
      return view.getFloat32(offset, true);
    case "float64":
      return view.getFloat64(offset, true);
    default:
      return type satisfies never;
  }
}

/** Writes a field into the bytes of a struct. Throws CONTRACT_VIOLATION if the layout has no such field. */
export function writeField(layout: StructLayout, bytes: Uint8Array, name: string, value: FieldValue): void {
  const { offset, type } = getField(layout, name);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (type) {
    case "bool":
      return view.setUint8(offset, Number(value));
    case "int8":
      return view.setInt8(offset, Number(value));
    case "uint8":
      return view.setUint8(offset, Number(value));
    case "int16":
      return view.setInt16(offset, Number(value), true);
    case "uint16":
      return view.setUint16(offset, Number(value), true);
    case "int32":
      return view.setInt32(offset, Number(value), true);
    case "uint32":
      return view.setUint32(offset, Number(value), true);
    case "int64":
      return view.setBigInt64(offset, BigInt(value), true);
    case "uint64":
    case "pointer":
      return view.setBigUint64(offset, BigInt(value), true);
    case "float32":
      return view.setFloat32(offset, Number(value), true);
    case "float64":
      return view.setFloat64(offset, Number(value), true);
    default:
      return type satisfies never;
  }
}

/** The field of a layout. Throws CONTRACT_VIOLATION if it has none of that name. */
function getField(layout: StructLayout, name: string): StructField {
  const field = layout.fields[name];
  if (field !== undefined) return field;
  throw new InferyardError("CONTRACT_VIOLATION", `${layout.name} has no field ${name} in this layout`, {
    data: { struct: layout.name, field: name, fields: Object.keys(layout.fields) },
  });
}
