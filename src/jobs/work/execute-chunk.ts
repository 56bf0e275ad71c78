/** Computes a chunk: all rows at once, and where that fails in smaller parts, until the rows are known that fail alone. */
import { InferyardError, isInferyardError } from "../../contract/errors.ts";
import { delay } from "../../storage/lock.ts";
import type { RowChunkResult, FailedRow, JobRow } from "../queue/chunk.ts";
import type { ChunkHistory, ChunkLease } from "../queue/chunk-queue.ts";
import type { FailedLine } from "../rows/row-fields.ts";
import { rowError } from "./row-tasks.ts";

/** How rows of a chunk are computed. */
export interface RowWork {
  /** Throws INPUT_INVALID for a row that cannot be read. */
  readonly check: (row: JobRow) => void;
  /** The output of each row. Throws if a row fails. */
  readonly run: (rows: readonly JobRow[]) => Promise<RowChunkResult["output"]>;
  readonly failedLine: FailedLine;
  readonly retries: number;
  /** Rows that are computed at once, each in a call of its own. Default: all rows in one call, and in smaller ones where that fails. */
  readonly parallel?: number | undefined;
}

/** Deaths of workers from which on the rows of a chunk are computed one by one. */
const deathsUntilAlone = 2;
/** Wait before a row is tried again after an error that may pass, in milliseconds; doubled with each attempt. */
const firstRetryMs = 200;

/** Computes the rows of a leased chunk. Throws ABORTED, and what is thrown for the job as a whole. */
export async function executeRows(
  { chunk, history, mark }: Pick<ChunkLease, "chunk" | "history" | "mark">,
  work: RowWork,
  signal: AbortSignal,
): Promise<RowChunkResult> {
  const failed: FailedRow[] = [];
  const fail = (row: JobRow, error: unknown): void => {
    failed.push({ number: row.number, line: work.failedLine(row, rowError(error).toJSON()) });
  };
  const sound = chunk.rows.filter((row) => isSound(row, work, history, fail));
  const isAlone = history.deaths >= deathsUntilAlone;
  let output: RowChunkResult["output"];
  if (isAlone) output = await oneByOne(sound, work, signal, fail, mark);
  else if (work.parallel === undefined) output = await inParts(sound, work, signal, fail);
  else output = await sideBySide(sound, work.parallel, (row) => alone(row, work, signal, fail));
  return { output, failed: failed.sort((one, other) => one.number - other.number) };
}

type Fail = (row: JobRow, error: unknown) => void;

/** Whether a row can be computed; otherwise it is set aside. */
function isSound(row: JobRow, { check, retries }: RowWork, { rowDeaths }: ChunkHistory, fail: Fail): boolean {
  const deaths = rowDeaths[String(row.number)] ?? 0;
  if (deaths > retries) {
    const workers = deaths === 1 ? "a worker" : `${deaths} workers`;
    fail(row, new InferyardError("HOST_DIED", `${workers} died while computing this row`));
    return false;
  }
  try {
    check(row);
    return true;
  } catch (error) {
    fail(row, error);
    return false;
  }
}

/** Halves what fails: a few failing rows cost a few more calls, and not a call per row. */
async function inParts(
  rows: readonly JobRow[],
  work: RowWork,
  signal: AbortSignal,
  fail: Fail,
): Promise<RowChunkResult["output"]> {
  if (rows.length === 0) return [];
  const [first] = rows;
  if (rows.length === 1 && first !== undefined) return alone(first, work, signal, fail);
  try {
    return await work.run(rows);
  } catch (error) {
    refuseToContinue(error, signal);
    const middle = Math.ceil(rows.length / 2);
    return [
      ...(await inParts(rows.slice(0, middle), work, signal, fail)),
      ...(await inParts(rows.slice(middle), work, signal, fail)),
    ];
  }
}

/** The outputs of rows, at most `parallel` of which are computed at once, in the order of the rows. */
async function sideBySide(
  rows: readonly JobRow[],
  parallel: number,
  compute: (row: JobRow) => Promise<RowChunkResult["output"]>,
): Promise<RowChunkResult["output"]> {
  const outputs: RowChunkResult["output"][] = [];
  const left = rows.entries();
  const lane = async (): Promise<void> => {
    for (const [index, row] of left) outputs[index] = await compute(row);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, rows.length) }, lane));
  return outputs.flat();
}

/** Each row on its own, marked, so that the death of this worker is counted for the row that caused it. */
async function oneByOne(
  rows: readonly JobRow[],
  work: RowWork,
  signal: AbortSignal,
  fail: Fail,
  mark: ChunkLease["mark"],
): Promise<RowChunkResult["output"]> {
  const lines: RowChunkResult["output"][number][] = [];
  for (const row of rows) {
    await mark(row.number);
    lines.push(...(await alone(row, work, signal, fail)));
  }
  await mark(undefined);
  return lines;
}

/** One row, again after errors that may pass. */
async function alone(row: JobRow, work: RowWork, signal: AbortSignal, fail: Fail): Promise<RowChunkResult["output"]> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work.run([row]);
    } catch (error) {
      refuseToContinue(error, signal);
      if (!isInferyardError(error) || !error.retryable || attempt >= work.retries) {
        fail(row, error);
        return [];
      }
      await delay(error.retryAfterMs ?? firstRetryMs * 2 ** attempt, signal);
    }
  }
}

function refuseToContinue(error: unknown, signal: AbortSignal): void {
  if (signal.aborted) throw error;
}

/** A result for a chunk that cannot be computed on account of the job as a whole. `subject`: what the message begins with. */
export function fatalResult(error: unknown, subject?: string): RowChunkResult {
  const { message, ...others } = rowError(error).toJSON();
  return { output: [], failed: [], fatal: { ...others, message: subject === undefined ? message : `${subject}: ${message}` } };
}
