/** Layouts of C structs as tables, and access to the fields of a struct in its bytes. Little-endian, as every machine that Inferyard runs on. */
import { InferyardError } from "../../contract/errors.ts";
import { type NumberType, type NumberTypeName, numberTypes } from "../../formats/number-types.ts";

/** The type of a field. `bool` is one byte; enumerations of C are `int32`. */
export type FieldType = NumberTypeName | "bool" | "pointer";

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

/** Bytes of a field of a type. */
export function getFieldSize(type: FieldType): number {
  return getNumberType(type).bytes;
}

/** How a field of a type is stored. */
function getNumberType(type: FieldType): NumberType {
  return numberTypes[type === "bool" ? "uint8" : type === "pointer" ? "uint64" : type];
}

/** The layout that a C compiler gives a struct: fields in this order, each at the next multiple of its size. `start`: offset of the first. */
export function layOut(name: string, fields: readonly (readonly [name: string, type: FieldType])[]): StructLayout {
  const placed: Record<string, StructField> = {};
  let end = 0;
  let alignment = 1;
  for (const [field, type] of fields) {
    const bytes = getFieldSize(type);
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
  const value = getNumberType(type).read(viewOf(bytes), offset, true);
  return type === "bool" ? value !== 0 : value;
}

/** Writes a field into the bytes of a struct. Throws CONTRACT_VIOLATION if the layout has no such field. */
export function writeField(layout: StructLayout, bytes: Uint8Array, name: string, value: FieldValue): void {
  const { offset, type } = getField(layout, name);
  getNumberType(type).write(viewOf(bytes), offset, value, true);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** The field of a layout. Throws CONTRACT_VIOLATION if it has none of that name. */
function getField(layout: StructLayout, name: string): StructField {
  const field = layout.fields[name];
  if (field !== undefined) return field;
  throw new InferyardError("CONTRACT_VIOLATION", `${layout.name} has no field ${name} in this layout`, {
    data: { struct: layout.name, field: name, fields: Object.keys(layout.fields) },
  });
}
