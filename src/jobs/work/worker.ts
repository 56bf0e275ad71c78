/** A worker: takes chunks from a queue, computes them on a runtime, and leaves the results. */
import type { Runtime } from "../../api/runtime.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { RowChunkResult, ChunkWork } from "../queue/chunk.ts";
import type { ChunkLease, WorkerQueue } from "../queue/chunk-queue.ts";
import { jobFailedLine } from "../rows/row-fields.ts";
import { executeRows, fatalResult } from "./execute-chunk.ts";
import { getRowTask } from "./row-tasks.ts";
import type { WorkerActivity } from "./worker-processes.ts";

/** Computes a leased chunk. Throws ABORTED if the signal is aborted. */
export type ChunkExecutor = (lease: ChunkLease, signal: AbortSignal) => Promise<RowChunkResult>;

/** Ends of a worker: `stop` lets it finish the chunk that it holds, `abort` makes it give the chunk back. */
export interface WorkerSignals {
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
}

/** Takes and computes chunks until it is stopped. `tell`: called with what it does from now on. Throws errors of the queue. */
export async function runWorker(
  queue: WorkerQueue,
  execute: ChunkExecutor,
  { stop, abort }: WorkerSignals,
  tell: (activity: WorkerActivity) => void = () => {},
): Promise<void> {
  for (;;) {
    const taken = await queue.take(stop);
    if (taken === undefined) return;
    tell("chunk");
    const mark: ChunkLease["mark"] = async (row) => {
      tell(row === undefined ? "chunk" : "row");
      await taken.mark(row);
    };
    const lease: ChunkLease = { ...taken, mark };
    let result: RowChunkResult;
    try {
      result = await execute(lease, abort);
    } catch (error) {
      await lease.release();
      tell("idle");
      if (abort.aborted) return;
      throw error;
    }
    try {
      await lease.finish(result);
    } catch (error) {
      // A queue on a full disk: the job ends with that, where there is room for a few bytes.
      await lease.finish(fatalResult(error)).catch(() => undefined);
      tell("idle");
      throw error;
    }
    tell("idle");
  }
}

/** Computes chunks of the tasks of `rowTasks`. It loads a model when a chunk first names it. */
export function taskExecutor(runtime: Runtime): ChunkExecutor {
  const models = new Map<string, Promise<ModelHandle>>();
  const load = ({ task, model, options }: ChunkWork, signal: AbortSignal): Promise<ModelHandle> => {
    const { kind } = getRowTask(task);
    const placement = options["placement"] ?? {};
    const key = JSON.stringify([model, kind, placement]);
    const known = models.get(key);
    if (known !== undefined) return known;
    const loading = runtime.load(model, { ...placement, kind, signal });
    models.set(key, loading);
    loading.catch(() => models.delete(key));
    return loading;
  };
  return async (lease, signal) => {
    const { work } = lease.chunk;
    try {
      const [task, model] = [getRowTask(work.task), await load(work, signal)];
      const { placement: _placement, ...options } = work.options;
      return await executeRows(
        lease,
        {
          retries: work.retries,
          failedLine: jobFailedLine,
          parallel: task.parallel,
          check: ({ fields }) => task.check(fields),
          run: async (rows) => {
            const results = await task.run(
              rows.map(({ fields }) => fields),
              { runtime, model, options, signal },
            );
            return rows.map(({ id }, index) => {
              const result = results[index] ?? "null";
              return typeof result === "string" ? `{"id":${JSON.stringify(id)},"result":${result}}` : { id, vector: result };
            });
          },
        },
        signal,
      );
    } catch (error) {
      if (signal.aborted || !(error instanceof InferyardError)) throw error;
      return fatalResult(error, work.model);
    }
  };
}
