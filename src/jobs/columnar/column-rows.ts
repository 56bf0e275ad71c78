/** Rows of columnar files as plain values. */
import { invalidInput } from "../../contract/errors.ts";
import type { ReadRow } from "../rows/row-reader.ts";

/** Estimated bytes of a row, for the bound on chunks: the characters of its texts, and 8 for each other value. */
function estimateBytes(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + estimateBytes(each), 0);
  if (typeof value === "object" && value !== null) return estimateBytes(Object.values(value));
  return 8;
}

/** A value of a column as JSON has it: whole numbers of 64 bits as numbers where these are exact, else as texts; lists as arrays. Null fields are left out. */
function toPlain(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null) return value ?? undefined;
  if (ArrayBuffer.isView(value)) return Array.from(value as Uint8Array, (each) => toPlain(each));
  if (Array.isArray(value) || isVector(value)) return Array.from(value, toPlain);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toPlain(each)]));
}

/** Lists of apache-arrow are vectors, and its structures can be written as JSON. */
function isVector(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value && "numChildren" in value;
}

/** The row with a number, from 1, of `total` rows. */
export function columnRow(number: number, total: number, value: Readonly<Record<string, unknown>>): ReadRow {
  const plain = toPlain(value);
  return { number, bytes: estimateBytes(plain), position: { offset: number, number }, part: number / total, value: plain };
}

/** The names that a file has columns for. Throws INPUT_INVALID if the first, which every row needs, is not among them. */
export function presentColumns(path: string, wanted: readonly string[], columns: readonly string[], needed: string): string[] {
  if (columns.includes(needed)) return wanted.filter((name) => columns.includes(name));
  throw invalidInput(`${path} has no column ${needed}`, `its columns are ${columns.join(", ")}: rename the one with the texts`);
}
