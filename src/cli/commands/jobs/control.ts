/** `jobs status`, `pause`, `cancel`, `failed` and `remove`: commands about jobs that other processes run. */
import { createReadStream } from "node:fs";
import { InferyardError, invalidInput, isInferyardError } from "../../../contract/errors.ts";
import { getLines } from "../../input/lines.ts";
import { openQueue } from "../../../jobs/open-job.ts";
import type { Job } from "../../../jobs/store/job.ts";
import type { JobRequest, JobStore } from "../../../jobs/store/job-store.ts";
import { errorCode } from "../../../storage/disk.ts";
import { delay } from "../../../storage/lock.ts";
import { printable } from "../../output/table.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";
import { describeState } from "./describe-job.ts";
import { openJobs, queueAddress } from "./job-folder.ts";

/** Flags of these commands. */
export interface ControlFlags {
  readonly json?: boolean;
  readonly redis?: string;
}

/** Time in which a process that runs a job notices a request. */
const requestMs = 30_000;
const pollMs = 100;
/** Interval at which it is asked again: a process that has just begun with the job takes back what was asked of an earlier one. */
const askAgainMs = 2000;

/** `jobs status`: one job, or all. */
export async function showStatus(id: string | undefined, { json }: ControlFlags, terminal: Terminal): Promise<void> {
  const store = openJobs(terminal);
  const jobs = id === undefined ? await store.list() : [await store.get(id)];
  const all = await Promise.all(jobs.map(async (job) => ({ job, isRunning: await store.isRunning(job.id) })));
  if (json === true) {
    const listed = all.map(({ job: { state, ...job }, isRunning }) => ({ ...job, ...state, isRunning }));
    return writeLine(terminal.stdout, JSON.stringify(id === undefined ? { jobs: listed } : listed[0]));
  }
  if (all.length === 0) return writeLine(terminal.stdout, "no jobs on this machine");
  for (const { job, isRunning } of all) writeLine(terminal.stdout, describeState(job, isRunning));
}

/** `jobs pause` and `jobs cancel`. */
export async function endRun(id: string, request: JobRequest, flags: ControlFlags, terminal: Terminal): Promise<void> {
  const store = openJobs(terminal);
  const job = await store.get(id);
  const status = request === "pause" ? "paused" : "cancelled";
  if (job.state.status === "done" || job.state.status === "cancelled") throw invalidInput(`the job ${id} is ${job.state.status}`);
  if (await store.isRunning(id)) await endOther(store, id, request, terminal);
  else await store.exclusively(id, async () => store.save(id, { ...(await store.get(id)).state, status }));
  if (request === "cancel") await emptyQueue(job, store, flags, terminal);
  const ended = await store.get(id);
  if (flags.json === true) return writeLine(terminal.stdout, JSON.stringify({ id, ...ended.state }));
  writeLine(terminal.stdout, describeState(ended));
}

/** Asks the process that runs the job, and waits until it has ended. */
async function endOther(store: JobStore, id: string, request: JobRequest, { signal }: Terminal): Promise<void> {
  for (let waited = 0; await store.isRunning(id); waited += pollMs) {
    if (waited % askAgainMs === 0) await store.request(id, request);
    if (waited > requestMs)
      throw new InferyardError("REQUEST_TIMEOUT", `the process that runs the job ${id} has not ended in ${requestMs / 1000} s`);
    await delay(pollMs, signal);
  }
}

/** Removes what is left of a job in its queue. */
async function emptyQueue({ id, definition }: Job, store: JobStore, { redis }: ControlFlags, terminal: Terminal): Promise<void> {
  const queue = await openQueue(queueAddress(store, redis ?? definition.redis, terminal));
  await queue.removeJob(id).finally(() => queue.close());
}

/** `jobs failed`. */
export async function showFailed(id: string, { json }: ControlFlags, terminal: Terminal): Promise<void> {
  const { definition, state } = await openJobs(terminal).get(id);
  if (state.failed === 0) {
    if (json !== true) writeLine(terminal.stdout, "no rows were set aside");
    return;
  }
  const stream = createReadStream(definition.failed, { end: Math.max(0, state.failedBytes - 1) });
  try {
    for await (const line of getLines(stream)) await writeAll(terminal.stdout, `${json === true ? line : describeRow(line)}\n`);
  } catch (cause) {
    if (errorCode(cause) !== "ENOENT") throw cause;
    throw new InferyardError("INPUT_INVALID", `${definition.failed} is not there any more`, { cause });
  }
}

function describeRow(line: string): string {
  const { row, id, error } = JSON.parse(line) as {
    readonly row: number;
    readonly id?: string | number;
    readonly error: { readonly code: string; readonly message: string };
  };
  const name = id === undefined || id === row ? "" : ` (${printable(String(id))})`;
  return `row ${row}${name}: ${error.code} ${printable(error.message, 120)}`;
}

/** `jobs remove`. */
export async function removeJob(id: string, { json }: ControlFlags, terminal: Terminal): Promise<void> {
  const store = openJobs(terminal);
  const job = await store.get(id);
  await store.exclusively(id, async () => {
    await emptyQueue(job, store, {}, terminal).catch((error: unknown) => {
      if (!isInferyardError(error) || error.code !== "QUEUE_UNAVAILABLE") throw error; // a server that is gone: its results expire
    });
    await store.remove(id);
  });
  writeLine(terminal.stdout, json === true ? JSON.stringify({ id, removed: true }) : `${id} is removed`);
}
