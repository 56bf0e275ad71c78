/** `jobs run` and `jobs resume`: run a job in this process, with workers of its own. */
import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { omitUndefined } from "../../../contract/checked.ts";
import { abortError, invalidInput } from "../../../contract/errors.ts";
import { checkDefinition, openQueue, runRecordedJob } from "../../../jobs/open-job.ts";
import type { ChunkQueue } from "../../../jobs/queue/chunk-queue.ts";
import { jobFile } from "../../../jobs/rows/formats.ts";
import type { Job, JobDefinition, JobState } from "../../../jobs/store/job.ts";
import { type JobStore, inputFacts } from "../../../jobs/store/job-store.ts";
import { getRowTask } from "../../../jobs/work/row-tasks.ts";
import { WorkerProcesses } from "../../../jobs/work/worker-processes.ts";
import { parseGivenJson } from "../../input/given-file.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { describeState } from "./describe-job.ts";
import { openJobs, queueAddress, withoutPassword } from "./job-folder.ts";

/** Flags of `jobs run`. */
export interface RunFlags extends ResumeFlags {
  readonly input: string;
  readonly output: string;
  readonly failed?: string;
  readonly model?: string;
  readonly variant?: string;
  readonly target?: string;
  readonly options?: string;
  readonly id?: string;
  readonly retries: number;
  readonly chunkRows?: number;
}

/** Flags of `jobs resume`. */
export interface ResumeFlags {
  readonly workers?: number;
  readonly redis?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly config?: string;
}

/** `jobs run`. */
export async function runCommand(task: string, flags: RunFlags, terminal: Terminal): Promise<void> {
  const store = openJobs(terminal);
  const definition = await toDefinition(task, flags, terminal);
  await runHere(() => findOrCreate(store, flags.id ?? defaultId(definition), definition), store, flags, terminal);
}

/** `jobs resume`. */
export async function resumeCommand(id: string, flags: ResumeFlags, terminal: Terminal): Promise<void> {
  const store = openJobs(terminal);
  const job = await store.get(id);
  const { redis } = job.definition;
  if (flags.redis !== undefined && redis !== withoutPassword(flags.redis))
    throw invalidInput(`the queue of the job ${id} is ${redis ?? "the data folder of this machine"}`, "leave --redis out");
  await runHere(async () => job, store, { ...flags, ...omitUndefined({ redis: flags.redis ?? redis }) }, terminal);
}

async function toDefinition(task: string, flags: RunFlags, { directory }: Terminal): Promise<JobDefinition> {
  const { input, output, failed, model = "builtin", variant, target, options = "{}", retries, chunkRows, redis } = flags;
  const given = parseGivenJson(options, "--options");
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw invalidInput("--options is no JSON object");
  const placement = omitUndefined({ variant, target: target === undefined ? undefined : [target] });
  const outputFile = jobFile(resolve(directory, output));
  const isPath = /^\.{0,2}[/\\]/.test(model);
  const definition: JobDefinition = {
    work: {
      task,
      model: isPath ? resolve(directory, model) : model,
      options: { ...given, ...(Object.keys(placement).length === 0 ? {} : { placement }) },
      retries,
    },
    input: jobFile(resolve(directory, input)),
    output: outputFile,
    failed: resolve(directory, failed ?? `${output}.failed.jsonl`),
    chunkRows: chunkRows ?? getRowTask(task).chunkRows,
    ...omitUndefined({ redis: redis === undefined ? undefined : withoutPassword(redis) }),
  };
  checkDefinition(definition);
  return definition;
}

/** Two commands that ask for the same are one job. */
function defaultId(definition: JobDefinition): string {
  const digest = createHash("sha256").update(JSON.stringify(definition)).digest("hex");
  return `${definition.work.task}-${digest.slice(0, 10)}`;
}

/** The job of this definition; a new one if the last one is finished and its input has changed since. */
async function findOrCreate(store: JobStore, id: string, definition: JobDefinition): Promise<Job> {
  const known = await store.find(id);
  if (known === undefined) return await store.create(id, definition);
  if (JSON.stringify(known.definition) !== JSON.stringify(definition))
    throw invalidInput(`the job ${id} was asked to do something else`, `choose another --id, or inferyard jobs remove ${id}`);
  const { status, inputBytes, inputTime } = known.state;
  if (status !== "done" && status !== "cancelled") return known;
  const now = await inputFacts(definition.input.path);
  const isUnchanged = now.inputBytes === inputBytes && now.inputTime === inputTime;
  if (status === "done" && isUnchanged)
    throw invalidInput(
      `the job ${id} is done, and its input has not changed since`,
      `inferyard jobs remove ${id} lets it run again`,
    );
  await store.remove(id);
  return await store.create(id, definition);
}

/** Runs a job with its workers until it is done, and prints how it ended. A signal pauses it. `getJob`: called once the queue is reached. */
async function runHere(getJob: () => Promise<Job>, store: JobStore, flags: ResumeFlags, terminal: Terminal): Promise<void> {
  terminal.runUntilSignal?.();
  const queue = await openQueue(queueAddress(store, flags.redis, terminal));
  try {
    await runOn(queue, await getJob(), store, flags, terminal);
  } finally {
    await queue.close();
  }
}

async function runOn(queue: ChunkQueue, job: Job, store: JobStore, flags: ResumeFlags, terminal: Terminal): Promise<void> {
  const count = flags.workers ?? (job.definition.work.task === "generate" ? 1 : availableParallelism());
  let workers: WorkerProcesses | undefined;
  const notes = new ProgressNotes(job, flags, terminal);
  try {
    const onState = (state: JobState): void => {
      // Not before the job is this process's own.
      workers ??= new WorkerProcesses(count, workerCommand(count, flags, terminal));
      if (notes.show(state)) workers.onProgress();
    };
    const checkWorkers = (): void => workers?.check();
    const state = await runRecordedJob(job, { store, queue, signal: terminal.signal, onState, checkWorkers });
    notes.clear();
    if (flags.json === true) writeLine(terminal.stdout, JSON.stringify({ id: job.id, ...state }));
    else writeLine(terminal.stdout, describeState({ ...job, state }));
    if (terminal.signal.aborted) throw abortError(terminal.signal);
  } finally {
    notes.clear();
    await workers?.close();
  }
}

/** The command line of a worker of this machine. The password of the queue is in its environment alone. */
function workerCommand(count: number, { redis, config, quiet }: ResumeFlags, { environment, directory }: Terminal) {
  const args = [
    ...process.execArgv,
    fileURLToPath(new URL("../../index.ts", import.meta.url)),
    "jobs",
    "work",
    ...(redis === undefined ? [] : ["--redis", withoutPassword(redis)]),
    ...(config === undefined ? [] : ["--config", config]),
    ...(quiet === true ? ["--quiet"] : []),
  ];
  const threads = String(Math.max(1, Math.floor(availableParallelism() / Math.max(1, count))));
  const password = redis === undefined ? "" : new URL(redis).password;
  return {
    program: process.execPath,
    args,
    directory,
    environment: {
      INFERYARD_THREADS: threads,
      ...environment,
      ...(password === "" ? {} : { REDIS_PASSWORD: decodeURIComponent(password) }),
    },
  };
}

/** The line of progress on a terminal. */
class ProgressNotes {
  readonly #job: Job;
  readonly #terminal: Terminal;
  readonly #isShown: boolean;
  #rows = -1;

  constructor(job: Job, { quiet }: ResumeFlags, terminal: Terminal) {
    this.#job = job;
    this.#terminal = terminal;
    this.#isShown = terminal.stderr.isTTY === true && quiet !== true;
  }

  /** Shows a state. Whether rows were done since the last one. */
  show(state: JobState): boolean {
    if (this.#isShown) this.#terminal.stderr.write(`\r\u001B[K${describeState({ ...this.#job, state }).split("\n")[0] ?? ""}`);
    const isFurther = this.#rows >= 0 && state.rows > this.#rows;
    this.#rows = state.rows;
    return isFurther;
  }

  clear(): void {
    if (this.#isShown) this.#terminal.stderr.write("\r\u001B[K");
  }
}
