/** Runs jobs of `inferyard jobs` by their records: queue, reader and output as a job's definition has them. */
import { invalidInput } from "../contract/errors.ts";
import { checkOptions } from "../runtime/options/option.ts";
import type { ChunkQueue, WorkerQueue } from "./queue/chunk-queue.ts";
import { openSpool, openSpoolWorker } from "./queue/spool-queue.ts";
import { openFormat } from "./rows/formats.ts";
import { jobFailedLine } from "./rows/row-fields.ts";
import type { Job, JobDefinition, JobState } from "./store/job.ts";
import type { JobStore } from "./store/job-store.ts";
import { runJob } from "./work/coordinator.ts";
import { getRowTask } from "./work/row-tasks.ts";

/** Where a queue is: a Redis or Valkey server by its URL, else the spool of a store. */
export interface QueueAddress {
  /** redis:// or rediss://, password included. */
  readonly redis?: string;
  readonly spool: string;
}

/** Opens the coordinator's side of a queue. Throws QUEUE_UNAVAILABLE if the server cannot be reached or its packages are missing. */
export async function openQueue({ redis, spool }: QueueAddress): Promise<ChunkQueue> {
  if (redis === undefined) return await openSpool(spool);
  const { openRedisQueue } = await import("./queue/redis-queue.ts");
  return await openRedisQueue(redis);
}

/** Opens the workers' side of a queue. Throws as `openQueue` does. */
export async function openWorkerQueue({ redis, spool }: QueueAddress): Promise<WorkerQueue> {
  if (redis === undefined) return await openSpoolWorker(spool);
  const { openRedisWorker } = await import("./queue/redis-queue.ts");
  return await openRedisWorker(redis);
}

/** Throws INPUT_INVALID for a definition whose task or options do not exist, and for two files that are one. */
export function checkDefinition({ work, input, output, failed }: JobDefinition): void {
  const task = getRowTask(work.task);
  const { placement: _placement, ...options } = work.options;
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(task.options, name));
  if (unknown !== undefined)
    throw invalidInput(`${work.task} has no option ${unknown}`, `its options are ${Object.keys(task.options).join(", ")}`);
  checkOptions(task.options, options);
  const paths = [input.path, output.path, failed];
  if (new Set(paths).size < paths.length) throw invalidInput("input, output and the file of failed rows must be different files");
}

/** What `runRecordedJob` needs beside the job. */
export interface RunParts {
  readonly store: JobStore;
  readonly queue: ChunkQueue;
  readonly signal: AbortSignal;
  readonly onState?: (state: JobState) => void;
  readonly checkWorkers?: () => void;
}

/** Runs a job of the tasks of `rowTasks`, from where it is. Returns and throws as `runJob`. */
export async function runRecordedJob(job: Job, parts: RunParts): Promise<JobState> {
  const { input, output, work } = job.definition;
  checkDefinition(job.definition);
  const fields = { id: "id", needsId: false, names: getRowTask(work.task).fields };
  const { reader, convert } = await openFormat(input, output, [fields.id, ...fields.names]);
  return await runJob(job, {
    ...parts,
    reader,
    fields,
    failedLine: jobFailedLine,
    ...(convert === undefined ? {} : { convert }),
  });
}
