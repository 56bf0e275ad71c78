/** Reads Arrow's file and stream formats with apache-arrow, one record batch at a time. */
import { createReadStream } from "node:fs";
import type * as Arrow from "apache-arrow";
import type { RecordBatch } from "apache-arrow";
import { InferyardError, getMessage, isInferyardError } from "../../contract/errors.ts";
import type { ReadRow, RowReader } from "../rows/row-reader.ts";
import type { InputPosition } from "../store/job.ts";
import { columnRow, presentColumns } from "./column-rows.ts";
import { importFormatPackage } from "./optional-package.ts";

/** Rows that are handed on together. */
const groupRows = 1024;

/** A reader of an Arrow file. Parameters, positions and errors are as of `parquetReader`. The number of rows is known at the end alone, so progress is by rows. */
export async function arrowReader(path: string, fields: readonly string[], needed: string): Promise<RowReader> {
  const arrow: typeof Arrow = await importFormatPackage("apache-arrow", () => import("apache-arrow"));
  let total = 0;
  for await (const batch of batches(arrow, path)) {
    if (total === 0) presentColumns(path, fields, names(batch), needed);
    total += batch.numRows;
  }
  return { read: (position) => readRows(arrow, { path, fields, needed, total }, position) };
}

interface ArrowFile {
  readonly path: string;
  readonly fields: readonly string[];
  readonly needed: string;
  readonly total: number;
}

async function* readRows(
  arrow: typeof Arrow,
  { path, fields, needed, total }: ArrowFile,
  { offset }: InputPosition,
): AsyncGenerator<readonly ReadRow[], void> {
  let start = 0;
  for await (const batch of batches(arrow, path)) {
    const selected = batch.select(presentColumns(path, fields, names(batch), needed));
    for (let first = Math.max(0, offset - start); first < batch.numRows; first += groupRows) {
      const count = Math.min(groupRows, batch.numRows - first);
      yield Array.from({ length: count }, (_, index) => {
        const row = selected.get(first + index)?.toJSON() ?? {};
        return columnRow(start + first + index + 1, total, row);
      });
    }
    start += batch.numRows;
  }
}

function names(batch: RecordBatch): string[] {
  return batch.schema.fields.map(({ name }) => name);
}

async function* batches(arrow: typeof Arrow, path: string): AsyncGenerator<RecordBatch, void> {
  const stream = createReadStream(path);
  try {
    const reader = await arrow.RecordBatchReader.from(stream);
    for await (const batch of reader) yield batch;
  } catch (cause) {
    if (isInferyardError(cause)) throw cause;
    throw new InferyardError("INPUT_INVALID", `${path} cannot be read as Arrow: ${getMessage(cause)}`, { cause });
  } finally {
    stream.destroy();
  }
}
