/** Cuts the rows of an input into chunks: the same ones each time, from wherever reading continues. */
import { type RowChunk, type FailedRow, type JobRow, createChunk } from "../queue/chunk.ts";
import { IdSet } from "../rows/id-set.ts";
import { type FailedLine, type RowFields, addKnownId, toRow } from "../rows/row-fields.ts";
import type { ReadRow, RowReader } from "../rows/row-reader.ts";
import type { Job, InputPosition } from "../store/job.ts";

/** A chunk with what the coordinator keeps of it. */
export interface CutChunk {
  readonly chunk: RowChunk;
  /** Rows that were set aside without being computed. */
  readonly failed: readonly FailedRow[];
  /** Rows that were read for it. */
  readonly rows: number;
  readonly bytes: number;
  /** Where the next chunk begins. */
  readonly position: InputPosition;
  /** Part of the input that is read by its end, from 0 to 1. */
  readonly progress: number;
}

/** How rows are read and checked. */
export interface CutParts {
  readonly reader: RowReader;
  readonly fields: RowFields;
  readonly failedLine: FailedLine;
}

/** Maximum size of the rows of a chunk in bytes; one row may be larger. */
const maxChunkBytes = 2 ** 20;

/** The chunks from the position of the job on. Ids before it are read again first, since each may occur once in an input. */
export async function* cutChunks(job: Job, { reader, fields, failedLine }: CutParts): AsyncGenerator<CutChunk, void> {
  const { id, definition, state } = job;
  const ids = new IdSet();
  if (state.rows > 0) await readKnownIds(reader, fields, ids, state.position.number);
  let index = state.chunks;
  let open = new OpenChunk();
  const close = (): CutChunk => {
    const { rows, failed, count, bytes, last } = open;
    const chunk = createChunk(id, index, definition.work, rows);
    index += 1;
    open = new OpenChunk();
    const { position, part } = last ?? { position: state.position, part: 1 };
    return { chunk, failed, rows: count, bytes, position, progress: part ?? position.offset / Math.max(1, state.inputBytes) };
  };
  for await (const group of reader.read(state.position)) {
    for (const read of group) {
      if (open.count > 0 && (open.count >= definition.chunkRows || open.bytes + read.bytes > maxChunkBytes)) yield close();
      const row = toRow(read, fields, ids, failedLine);
      open.add(read, row);
    }
  }
  if (open.count > 0) yield close();
}

class OpenChunk {
  readonly rows: JobRow[] = [];
  readonly failed: FailedRow[] = [];
  count = 0;
  bytes = 0;
  last: ReadRow | undefined;

  add(read: ReadRow, row: JobRow | FailedRow): void {
    if ("line" in row) this.failed.push(row);
    else this.rows.push(row);
    this.count += 1;
    this.bytes += read.bytes;
    this.last = read;
  }
}

async function readKnownIds(reader: RowReader, fields: RowFields, ids: IdSet, until: number): Promise<void> {
  for await (const group of reader.read({ offset: 0, number: 0 })) {
    for (const read of group) {
      if (read.number > until) return;
      addKnownId(read, fields, ids);
    }
  }
}
