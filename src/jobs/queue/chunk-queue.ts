/**
 * The contract of queues. A job's coordinator adds chunks and takes their results; workers, of any number and in any process that reaches the queue, take chunks
 * and leave results. Both sides may be killed at any time: a chunk whose worker died is given to another one, and a result stays until it is removed.
 */
import type { RowChunk, RowChunkResult, EncodedResult } from "./chunk.ts";

/** The coordinator's side of a queue. */
export interface ChunkQueue {
  /** Adds a chunk. Does nothing if the queue has it, or its result. */
  add(chunk: RowChunk): Promise<void>;
  /** The result of a chunk; undefined until a worker has left it. */
  result(id: string): Promise<EncodedResult | undefined>;
  /** Gives the chunks of dead workers to others, and adds again what the queue has lost of these chunks. */
  recover(outstanding: readonly RowChunk[]): Promise<void>;
  /** Removes the chunks that no worker has begun. Results of the others stay. */
  withdraw(ids: readonly string[]): Promise<void>;
  /** Removes chunks with their results, whatever state they are in. */
  remove(ids: readonly string[]): Promise<void>;
  /** Removes all chunks of a job with their results. */
  removeJob(job: string): Promise<void>;
  close(): Promise<void>;
}

/** What is known of earlier attempts at a chunk. */
export interface ChunkHistory {
  /** Workers that died while they held the chunk. */
  readonly deaths: number;
  /** Workers that died while they computed one row alone, by the number of the row. */
  readonly rowDeaths: Readonly<Record<string, number>>;
}

/** A chunk that a worker holds. */
export interface ChunkLease {
  readonly chunk: RowChunk;
  readonly history: ChunkHistory;
  /** Records that the worker begins with one row alone, so that its death is counted for that row; undefined: no row. */
  mark(row: number | undefined): Promise<void>;
  /** Leaves the result and ends the lease. */
  finish(result: RowChunkResult): Promise<void>;
  /** Gives the chunk back unfinished. */
  release(): Promise<void>;
}

/** The workers' side of a queue. */
export interface WorkerQueue {
  /** Waits for a chunk. Undefined when the signal is aborted. */
  take(signal: AbortSignal): Promise<ChunkLease | undefined>;
  close(): Promise<void>;
}

/** History of a chunk that nobody has held. */
export const noHistory: ChunkHistory = { deaths: 0, rowDeaths: {} };

/** The history after one more worker died. `row`: the row that it computed alone. */
export function afterDeath({ deaths, rowDeaths }: ChunkHistory, row: number | undefined): ChunkHistory {
  if (row === undefined) return { deaths: deaths + 1, rowDeaths };
  return { deaths: deaths + 1, rowDeaths: { ...rowDeaths, [row]: (rowDeaths[row] ?? 0) + 1 } };
}
