/** From a row as it was read to what a worker gets, or to a failed row. */
import { type InferyardError, type SerializedError, invalidInput } from "../../contract/errors.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { FailedRow, JobRow } from "../queue/chunk.ts";
import type { IdSet } from "./id-set.ts";
import type { ReadRow } from "./row-reader.ts";

/** Which fields of a row a task reads. The others are no part of what workers get. */
export interface RowFields {
  /** Name of the field with the id. */
  readonly id: string;
  /** Whether a row without an id fails; otherwise its number is its id. */
  readonly needsId: boolean;
  readonly names: readonly string[];
}

/** Writes the line of a failed row in the format of the job. */
export type FailedLine = (row: Pick<JobRow, "number"> & Partial<JobRow>, error: SerializedError, text?: string) => string;

/** The row that a worker gets, or the failed row if it cannot be read, has no valid id, or has the id of an earlier one. */
export function toRow(read: ReadRow, fields: RowFields, ids: IdSet, failedLine: FailedLine): JobRow | FailedRow {
  const { number, value, problem, text } = read;
  const fail = (error: InferyardError, row: Partial<JobRow> = {}): FailedRow => ({
    number,
    line: failedLine({ ...row, number }, error.toJSON(), text),
  });
  if (problem !== undefined) return fail(invalidInput(problem));
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail(invalidInput("the row is no object"));
  const all = value as Readonly<Record<string, unknown>>;
  const named = fields.names.filter((name) => Object.hasOwn(all, name)).map((name) => [name, all[name]] as const);
  const own = Object.fromEntries(named);
  const id = Object.hasOwn(all, fields.id) ? all[fields.id] : undefined;
  if (id === undefined || id === null) {
    if (fields.needsId) return fail(invalidInput(`the row has no ${fields.id}`), { fields: own });
    if (ids.add(number)) return { number, id: number, fields: own };
    return fail(invalidInput(`the row has no ${fields.id}, and an earlier row has its number ${number} as ${fields.id}`), {
      fields: own,
    });
  }
  if (typeof id !== "string" && (typeof id !== "number" || !Number.isFinite(id)))
    return fail(invalidInput(`${fields.id} is ${shown(id)}, and must be a text or a number`), { fields: own });
  if (!ids.add(id)) return fail(invalidInput(`${fields.id} ${shown(id)} occurred in an earlier row`), { id, fields: own });
  return { number, id, fields: own };
}

/** Adds the id of a row that an earlier process has read. */
export function addKnownId({ number, value }: ReadRow, fields: RowFields, ids: IdSet): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const own = Object.hasOwn(value, fields.id) ? (value as Readonly<Record<string, unknown>>)[fields.id] : undefined;
  const id = own ?? (fields.needsId ? undefined : number);
  if (typeof id === "string" || (typeof id === "number" && Number.isFinite(id))) ids.add(id);
}

function shown(value: unknown): string {
  return (typeof value === "number" ? String(value) : JSON.stringify(value)).slice(0, 80);
}

/** A failed row of `inferyard jobs`: the row's own fields, so that the file can be an input again, its number, and the error. */
export const jobFailedLine: FailedLine = ({ number, id, fields }, { code, message, remedy }, text) =>
  JSON.stringify({
    ...omitUndefined({ id }),
    ...fields,
    row: number,
    error: omitUndefined({ code, message, remedy }),
    ...omitUndefined({ text }),
  });
