/** What is recorded of a job. */
import type { SerializedError } from "../../contract/errors.ts";
import type { ChunkWork } from "../queue/chunk.ts";

/** Formats of inputs and outputs, by the ending of the file. */
export const fileFormats = ["jsonl", "parquet", "arrow"] as const;
/** Format of an input or an output. */
export type FileFormat = (typeof fileFormats)[number];

/** A file with its format. Paths are absolute. */
export interface JobFile {
  readonly path: string;
  readonly format: FileFormat;
}

/** What a job is asked to do. It does not change after the job is created. */
export interface JobDefinition {
  readonly work: ChunkWork;
  readonly input: JobFile;
  readonly output: JobFile;
  /** File of the rows that have no result, as JSONL. */
  readonly failed: string;
  /** Maximum number of rows of a chunk. */
  readonly chunkRows: number;
  /** Address of the Redis or Valkey server whose queue is used, without a password. Absent: the spool of this machine. */
  readonly redis?: string;
}

/** Status of a job. "running" is also what a job has whose process was killed; `isRunning` of a listing tells the two apart. */
export type JobStatus = "running" | "paused" | "done" | "cancelled" | "failed";

/** Where reading continues in an input. */
export interface InputPosition {
  /** Byte offset of a JSONL file, or number of rows before it in other formats. */
  readonly offset: number;
  /** Number of the last row before it; 0 at the start. */
  readonly number: number;
}

/** How far a job is. */
export interface JobState {
  readonly status: JobStatus;
  /** Chunks that are merged into the output. */
  readonly chunks: number;
  /** Where the next chunk begins in the input. */
  readonly position: InputPosition;
  /** Rows read, of which `done` have a result and `failed` were set aside. */
  readonly rows: number;
  readonly done: number;
  readonly failed: number;
  /** Lengths of the files of results and of failed rows, in bytes: what a killed process wrote after them is cut off. */
  readonly outputBytes: number;
  readonly failedBytes: number;
  /** Time in which the job ran, in milliseconds, all its processes together. */
  readonly milliseconds: number;
  /** Part of the input that is done, from 0 to 1. */
  readonly progress: number;
  /** Size and modification time of the input, which must not change. */
  readonly inputBytes: number;
  readonly inputTime: number;
  /** Why the job failed. */
  readonly error?: SerializedError;
}

/** A job as `JobStore` lists it. */
export interface Job {
  readonly id: string;
  readonly definition: JobDefinition;
  readonly state: JobState;
  /** When it was created, in ISO 8601. */
  readonly created: string;
}
