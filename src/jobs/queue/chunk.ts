/** Chunks: the units in which rows go to workers and results come back. */
import { createHash } from "node:crypto";
import { InferyardError, type SerializedError, getMessage } from "../../contract/errors.ts";
import { floatsToJson, vectorLines } from "../rows/float-text.ts";

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
export interface JobRow {
  /** Number of the row in its input, from 1; of JSONL the number of its line. */
  readonly number: number;
  /** Id of the row: its field `id`, else its number. */
  readonly id: string | number;
  /** The fields of the row. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Consecutive rows of one job. */
export interface RowChunk {
  /** `JOB.INDEX.DIGEST`: names the content, so that a result under this id belongs to exactly these rows. */
  readonly id: string;
  readonly work: ChunkWork;
  readonly rows: readonly JobRow[];
}

/** A row that has no result. */
export interface FailedRow {
  readonly number: number;
  /** Its line in the file of failed rows, without the line feed. */
  readonly line: string;
}

/** The result of a row that is a vector: it travels as float32, a third of its size as text. */
export interface VectorRow {
  readonly id: JobRow["id"];
  readonly vector: Float32Array;
}

/** The results of a chunk. */
export interface RowChunkResult {
  /** Lines of the output in the order of the rows, without line feeds; a vector becomes `{"id":...,"result":[...]}`. */
  readonly output: readonly (string | VectorRow)[];
  readonly failed: readonly FailedRow[];
  /** The error for which the whole job cannot run, such as a missing model. Absent if the chunk was computed. */
  readonly fatal?: SerializedError;
}

/** A result as the coordinator takes it from a queue. */
export interface EncodedResult extends Omit<RowChunkResult, "output"> {
  /** The lines of the output, each with its line feed. */
  readonly output: Buffer;
  /** Number of lines. */
  readonly done: number;
}

/** Characters of the digest in the id of a chunk: 96 bits. */
const digestLength = 24;

/** Makes a chunk. `index`: its place among the chunks of the job, from 0. */
export function createChunk(job: string, index: number, work: ChunkWork, rows: readonly JobRow[]): RowChunk {
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

/** The first line of an encoded result; after its line feed come the lines of the output, or the vectors, little-endian. */
interface ResultHead extends Omit<EncodedResult, "output"> {
  /** Present if the output is vectors of one length: the ids of their rows. */
  readonly ids?: readonly JobRow["id"][];
}

/**
 * The bytes of a chunk's result. `form` of vectors of one length: "floats", a third of their size as text, for a network, or "text", which spares the coordinator
 * the writing of the numbers.
 */
export function encodeResult({ output, ...others }: RowChunkResult, form: "floats" | "text" = "floats"): Buffer {
  const head: ResultHead = { ...others, done: output.length };
  const vectors = output.filter((row) => typeof row !== "string");
  const length = vectors[0]?.vector.length;
  if (length === undefined || vectors.length < output.length || vectors.some(({ vector }) => vector.length !== length))
    return Buffer.from(`${JSON.stringify(head)}\n${output.map((row) => `${toLine(row)}\n`).join("")}`);
  const ids = vectors.map(({ id }) => id);
  const floats = new Float32Array(vectors.length * length);
  for (const [row, { vector }] of vectors.entries()) floats.set(vector, row * length);
  if (form === "text") return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), vectorLines(ids, floats, length)]);
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...head, ids })}\n`), Buffer.from(floats.buffer)]);
}

/** Reads what `encodeResult` wrote. Throws RUN_FAILED if the bytes are cut off. */
export function decodeResult(bytes: Buffer): EncodedResult {
  const end = bytes.indexOf(0x0a);
  const rest = bytes.subarray(end + 1);
  try {
    const { ids, ...head } = JSON.parse(bytes.toString("utf8", 0, end)) as ResultHead;
    if (ids === undefined) return { ...head, output: rest };
    const floats = new Float32Array(rest.length / Float32Array.BYTES_PER_ELEMENT);
    new Uint8Array(floats.buffer).set(rest); // aligned
    const length = floats.length / ids.length;
    if (!Number.isInteger(length)) throw new RangeError(`${floats.length} numbers for ${ids.length} rows`);
    return { ...head, output: vectorLines(ids, floats, length) };
  } catch (error) {
    throw new InferyardError("RUN_FAILED", `a result in the queue is damaged: ${getMessage(error)}`, { cause: error });
  }
}

function toLine(row: string | VectorRow): string {
  return typeof row === "string" ? row : `{"id":${JSON.stringify(row.id)},"result":${floatsToJson(row.vector)}}`;
}
