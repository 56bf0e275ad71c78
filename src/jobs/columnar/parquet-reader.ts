/** Reads Parquet with hyparquet, one row group at a time. */
import * as zlib from "node:zlib";
import type * as Hyparquet from "hyparquet";
import type { AsyncBuffer, Compressors, FileMetaData } from "hyparquet";
import { InferyardError, getMessage, isInferyardError } from "../../contract/errors.ts";
import type { ReadRow, RowReader } from "../rows/row-reader.ts";
import type { InputPosition } from "../store/job.ts";
import { columnRow, presentColumns } from "./column-rows.ts";
import { importFormatPackage } from "./optional-package.ts";

/** Rows that are handed on together. */
const groupRows = 1024;

/**
 * A reader of a Parquet file. `fields`: the columns that count, where the file has them; `needed`: the one it must have. Positions count rows. Throws
 * INPUT_INVALID for another file, and NOT_BUILT without hyparquet.
 */
export async function parquetReader(path: string, fields: readonly string[], needed: string): Promise<RowReader> {
  const library: typeof Hyparquet = await importFormatPackage("hyparquet", () => import("hyparquet"));
  const { file, metadata, columns } = await readable(path, async () => {
    const file = await library.asyncBufferFromFile(path);
    const metadata = await library.parquetMetadataAsync(file);
    const names = library.parquetSchema(metadata).children.map(({ element }) => element.name);
    return { file, metadata, columns: presentColumns(path, fields, names, needed) };
  });
  return { read: (position) => readRows(library, { path, file, metadata, columns }, position) };
}

interface OpenFile {
  readonly path: string;
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: string[];
}

async function* readRows(
  library: typeof Hyparquet,
  { path, file, metadata, columns }: OpenFile,
  { offset }: InputPosition,
): AsyncGenerator<readonly ReadRow[], void> {
  const total = Number(metadata.num_rows);
  let start = 0;
  for (const group of metadata.row_groups) {
    const end = start + Number(group.num_rows);
    const from = Math.max(start, offset);
    start = end;
    if (from >= end) continue;
    const options = { file, metadata, columns, rowStart: from, rowEnd: end, compressors };
    const rows = await readable(path, () => library.parquetReadObjects(options));
    for (let first = 0; first < rows.length; first += groupRows)
      yield rows.slice(first, first + groupRows).map((row, index) => columnRow(from + first + index + 1, total, row));
  }
}

/** Codecs beside Snappy, which hyparquet has itself. */
const compressors: Compressors = {
  GZIP: (input) => zlib.gunzipSync(input),
  BROTLI: (input) => zlib.brotliDecompressSync(input),
  ZSTD: (input) => {
    // From Node.js 22.15.
    if (!("zstdDecompressSync" in zlib)) throw new Error("ZSTD needs Node.js 22.15 or newer; write the file with Snappy or gzip");
    return (zlib.zstdDecompressSync as (bytes: Uint8Array) => Uint8Array)(input);
  },
};

async function readable<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (cause) {
    if (isInferyardError(cause)) throw cause;
    throw new InferyardError("INPUT_INVALID", `${path} cannot be read as Parquet: ${getMessage(cause)}`, { cause });
  }
}
