/** Layouts of structs that a library fills with default values, with the values that released builds write. */
import { type FieldType, type FieldValue, type StructField, type StructLayout, layOut } from "../ffi/struct-layout.ts";

/** Values that released builds write into a field. `address`: a pointer that is not NULL. */
export type KnownValue = FieldValue | "address";

/** A field whose value is known when the library has filled the struct. */
export interface KnownField extends StructField {
  /** Values of released builds; any of them. */
  readonly values: readonly KnownValue[];
}

/** A released layout of a struct. */
export interface KnownLayout extends StructLayout {
  /** The oldest build that was held against it: "b10068". Builds between two releases of the table may have either layout. */
  readonly release: string;
  readonly fields: Readonly<Record<string, KnownField>>;
}

/** A field as a row of a table: its name, its type, and values of released builds. */
export type FieldRow = readonly [name: string, type: FieldType, ...values: KnownValue[]];

/** Differences from the layout of the previous release. */
export interface LayoutChange {
  readonly release: string;
  readonly remove?: readonly string[];
  /** Fields to insert after a named one. */
  readonly insert?: Readonly<Record<string, readonly FieldRow[]>>;
}

/** The layout of fields in this order. */
export function knownLayout(name: string, release: string, rows: readonly FieldRow[]): KnownLayout {
  const { size, alignment, fields } = layOut(
    name,
    rows.map(([field, type]) => [field, type] as const),
  );
  const values = new Map(rows.map(([field, _type, ...known]) => [field, known]));
  return {
    name,
    release,
    size,
    alignment,
    fields: Object.fromEntries(Object.entries(fields).map(([field, at]) => [field, { ...at, values: values.get(field) ?? [] }])),
  };
}

/** The layouts of a first release and of those after it, oldest first. */
export function layoutHistory(
  name: string,
  release: string,
  rows: readonly FieldRow[],
  changes: readonly LayoutChange[],
): readonly KnownLayout[] {
  const layouts = [knownLayout(name, release, rows)];
  let current = rows;
  for (const { release: changed, remove = [], insert = {} } of changes) {
    current = current.flatMap((row) => [...(remove.includes(row[0]) ? [] : [row]), ...(insert[row[0]] ?? [])]);
    layouts.push(knownLayout(name, changed, current));
  }
  return layouts;
}
