/** The formats of inputs and outputs, by the ending of the file's name. */
import { extname } from "node:path";
import { invalidInput } from "../../contract/errors.ts";
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
  throw invalidInput(`${path} has none of the endings of ${fileFormats.join(", ")}`, `the endings are ${Object.keys(endings).join(", ")}`);
}

/** How the rows of an input are read and how the lines of results become the output. */
export interface OpenFormat {
  readonly reader: RowReader;
  /** Absent: the lines are the output. */
  readonly convert?: (lines: string, output: string) => Promise<void>;
}

/** Opens the formats of a job's files. Throws INPUT_INVALID for a file that is not of its format. */
export async function openFormat(input: JobFile, output: JobFile): Promise<OpenFormat> {
  const reader = await openReader(input);
  if (output.format === "jsonl") return { reader };
  throw invalidInput(`${output.path}: outputs in ${output.format} are not built`);
}

async function openReader({ path, format }: JobFile): Promise<RowReader> {
  if (format === "jsonl") return jsonlReader(path);
  throw invalidInput(`${path}: inputs in ${format} are not built`);
}
