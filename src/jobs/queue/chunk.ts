/** Chunks: the units in which rows go to workers and results come back. */
import { createHash } from "node:crypto";
import type { SerializedError } from "../../contract/errors.ts";
import { wrapError } from "../../contract/errors.ts";

/** What a worker computes for each row of a chunk, and with which model. */
export interface ChunkWork {
  /** Name of the task: "embed", "rerank", "generate", or the name of an executor of the program itself. */
  readonly task: string;
  /** Reference of the model. */
  readonly model: string;
  /** Options of the task, with the names that the library has. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Attempts of a row after the first one before it is set aside, for errors that may pass and for workers that died. */
  readonly retries: number;
}

/** One row of an input. */
export interface Row {
  /** Number of the row in its input, from 1; of JSONL the number of its line. */
  readonly number: number;
  /** Id of the row: its field `id`, else its number. */
  readonly id: string | number;
  /** The fields of the row. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Consecutive rows of one job. */
export interface Chunk {
  /** `JOB.INDEX.DIGEST`: names the content, so that a result under this id belongs to exactly these rows. */
  readonly id: string;
  readonly work: ChunkWork;
  readonly rows: readonly Row[];
}

/** A row that has no result. */
export interface FailedRow {
  readonly number: number;
  /** Its line in the file of failed rows, without the line feed. */
  readonly line: string;
}

/** The results of a chunk. */
export interface ChunkResult {
  /** Lines of the output in the order of the rows, each with its line feed. */
  readonly output: string;
  /** Number of lines of the output. */
  readonly done: number;
  readonly failed: readonly FailedRow[];
  /** The error for which the whole job cannot run, such as a missing model. Absent if the chunk was computed. */
  readonly fatal?: SerializedError;
}

/** Characters of the digest in the id of a chunk: 96 bits. */
const digestLength = 24;

/** Makes a chunk. `index`: its place among the chunks of the job, from 0. */
export function createChunk(job: string, index: number, work: ChunkWork, rows: readonly Row[]): Chunk {
  const digest = createHash("sha256")
    .update(JSON.stringify([work, rows]))
    .digest("hex")
    .slice(0, digestLength);
  return { id: `${job}.${String(index).padStart(9, "0")}.${digest}`, work, rows };
}

/** The place of a chunk among the chunks of its job, as its id has it. */
export function chunkIndex(id: string): number {
  return Number(id.split(".").at(-2));
}

/** The bytes of a chunk's result: one line of JSON with the failures, then the lines of the output as they are. */
export function encodeResult({ output, ...head }: ChunkResult): Buffer {
  return Buffer.from(`${JSON.stringify(head)}\n${output}`);
}

/** A result whose output is still bytes: it is only copied to a file. */
export interface EncodedResult extends Omit<ChunkResult, "output"> {
  readonly output: Buffer;
}

/** Reads what `encodeResult` wrote. Throws RUN_FAILED if the bytes are cut off. */
export function decodeResult(bytes: Buffer): EncodedResult {
  const end = bytes.indexOf(0x0a);
  try {
    const head = JSON.parse(bytes.toString("utf8", 0, end)) as Omit<ChunkResult, "output">;
    return { ...head, output: bytes.subarray(end + 1) };
  } catch (error) {
    throw wrapError(error, "RUN_FAILED", "a result in the queue is damaged");
  }
}
