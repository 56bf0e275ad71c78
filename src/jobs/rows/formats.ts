/** The formats of inputs and outputs, by the ending of the file's name. */
import { rename, rm } from "node:fs/promises";
import { extname } from "node:path";
import { invalidInput } from "../../contract/errors.ts";
import { statOrUndefined, withDiskErrors } from "../../storage/disk.ts";
import { type FileFormat, type JobFile, fileFormats } from "../store/job.ts";
import { jsonlReader } from "./jsonl-reader.ts";
import type { RowReader } from "./row-reader.ts";

const endings: Readonly<Record<string, FileFormat>> = {
  ".jsonl": "jsonl",
  ".ndjson": "jsonl",
  ".parquet": "parquet",
  ".arrow": "arrow",
  ".feather": "arrow",
};

/** A file with the format that its ending says. `path`: absolute. Throws INPUT_INVALID for another ending. */
export function jobFile(path: string): JobFile {
  const format = endings[extname(path).toLowerCase()];
  if (format !== undefined) return { path, format };
  throw invalidInput(
    `${path} has none of the endings of ${fileFormats.join(", ")}`,
    `the endings are ${Object.keys(endings).join(", ")}`,
  );
}

/** How the rows of an input are read and how the lines of results become the output. */
export interface OpenFormat {
  readonly reader: RowReader;
  /** Absent: the lines are the output. */
  readonly convert?: (lines: string, output: string) => Promise<void>;
}

/**
 * Opens the formats of a job's files. `fields`: columns that are read of a columnar input, which must have the column `input`. Throws INPUT_INVALID for a file
 * that is not of its format, and NOT_BUILT where the package for it is missing.
 */
export async function openFormat(input: JobFile, output: JobFile, fields: readonly string[]): Promise<OpenFormat> {
  const convert = await openWriter(output);
  const reader = await openReader(input, fields);
  return convert === undefined ? { reader } : { reader, convert };
}

async function openReader({ path, format }: JobFile, fields: readonly string[]): Promise<RowReader> {
  if (format === "jsonl") return jsonlReader(path);
  if ((await statOrUndefined(path))?.size === 0) throw invalidInput(`${path} is empty, and so no ${format} file`);
  if (format === "parquet") return await (await import("../columnar/parquet-reader.ts")).parquetReader(path, fields, "input");
  return await (await import("../columnar/arrow-reader.ts")).arrowReader(path, fields, "input");
}

/** How the lines of results become the output, which appears by one rename. */
async function openWriter({ format }: JobFile): Promise<OpenFormat["convert"]> {
  if (format === "jsonl") return undefined;
  const write =
    format === "parquet"
      ? (await import("../columnar/parquet-writer.ts")).writeParquet
      : (await import("../columnar/arrow-writer.ts")).writeArrow;
  return async (lines, output) => {
    const staging = `${output}.writing`;
    await withDiskErrors(output, async () => {
      await write(lines, staging);
      await rename(staging, output);
      await rm(lines, { force: true });
    });
  };
}
