/**
 * Runs one job: cuts its input into chunks, keeps a bounded number of them in the queue, and appends their results in the order of the input. What is merged is
 * recorded, and only then leaves the queue, so that a kill at any moment loses no row and writes none twice.
 */
import { rename } from "node:fs/promises";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { statOrUndefined, withDiskErrors } from "../../storage/disk.ts";
import { delay } from "../../storage/lock.ts";
import type { EncodedResult, FailedRow, RowChunk } from "../queue/chunk.ts";
import type { ChunkQueue } from "../queue/chunk-queue.ts";
import type { RowFields, FailedLine } from "../rows/row-fields.ts";
import type { RowReader } from "../rows/row-reader.ts";
import { GrowingFile } from "../store/growing-file.ts";
import type { Job, JobState } from "../store/job.ts";
import { type JobStore, inputFacts } from "../store/job-store.ts";
import { type CutChunk, cutChunks } from "./cut-chunks.ts";

/** What a coordinator needs beside the job. */
export interface CoordinatorParts {
  readonly store: JobStore;
  readonly queue: ChunkQueue;
  readonly reader: RowReader;
  readonly fields: RowFields;
  readonly failedLine: FailedLine;
  /** Aborted: the job is paused. */
  readonly signal: AbortSignal;
  /** Called with each recorded state. */
  readonly onState?: (state: JobState) => void;
  /** Makes the output of the lines of results, in the format of the job; called once all rows are done. Default: the lines are the output. */
  readonly convert?: (lines: string, output: string) => Promise<void>;
  /** Throws when nobody can work on the job: its workers end as soon as they start. */
  readonly checkWorkers?: () => void;
}

/** Chunks and bytes of rows that may be in the queue at once: what the workers do while one of them is found to be dead. */
const [maxOutstanding, maxOutstandingBytes] = [128, 64 * 2 ** 20];
/** Bounds of the time between two looks for a result. */
const [minWaitMs, maxWaitMs] = [1, 50];
/** How often the state is recorded, dead workers are looked for, and requests of other processes are read. */
const checkpointMs = 1000;

/** Runs a job until it is done, paused or cancelled, and returns its state. Throws the error for which it cannot go on; its state then is "failed". */
export async function runJob(job: Job, parts: CoordinatorParts): Promise<JobState> {
  const { store } = parts;
  return await store.exclusively(job.id, async () => {
    const current = await store.get(job.id);
    if (current.state.status === "done" || current.state.status === "cancelled")
      throw invalidInput(`the job ${job.id} is ${current.state.status}`, "run it under another id");
    await store.takeRequest(job.id); // what was asked of an earlier process
    await refuseChangedInput(current);
    if (await isOutputThere(current)) {
      const state: JobState = { ...current.state, status: "done" };
      await store.save(job.id, state);
      return state;
    }
    const coordinator = await Coordinator.open(current, parts);
    try {
      return await coordinator.run();
    } catch (error) {
      const known = error instanceof InferyardError ? error : new InferyardError("RUN_FAILED", String(error), { cause: error });
      await coordinator.end("failed", known).catch(() => undefined); // a full disk must not hide the first error
      throw error;
    } finally {
      await coordinator.close();
    }
  });
}

/** Whether a process that was killed had made the output of all rows, and not yet recorded so. */
async function isOutputThere(job: Job): Promise<boolean> {
  const { progress, outputBytes } = job.state;
  if (progress < 1 || outputBytes === 0 || (await statOrUndefined(partialPath(job))) !== undefined) return false;
  return (await statOrUndefined(job.definition.output.path)) !== undefined;
}

/** Throws INPUT_INVALID if the input is not the one that the job began with. */
async function refuseChangedInput({ id, definition, state }: Job): Promise<void> {
  const { inputBytes, inputTime } = await inputFacts(definition.input.path);
  if (inputBytes === state.inputBytes && inputTime === state.inputTime) return;
  throw invalidInput(
    `${definition.input.path} has changed since the job ${id} began`,
    `run it as a job of its own, with another --id; inferyard jobs cancel ${id} ends this one`,
  );
}

/** Path of the lines of results while a job runs. */
export function partialPath({ definition }: Pick<Job, "definition">): string {
  return `${definition.output.path}.partial`;
}

class Coordinator {
  readonly #job: Job;
  readonly #parts: CoordinatorParts;
  readonly #output: GrowingFile;
  readonly #failed: GrowingFile;
  readonly #chunks: AsyncIterator<CutChunk, void>;
  readonly #outstanding: CutChunk[] = [];
  #outstandingBytes = 0;
  #isRead = false;
  /** Chunks from here on for which an earlier run may have left a result. */
  #unsure = maxOutstanding;
  /** Ids of chunks that are merged, and not yet recorded as such. */
  #merged: string[] = [];
  #state: JobState;
  #since = performance.now();
  #checkpoint = 0;
  /** The record that is being written beside the merging of results. */
  #recording: Promise<unknown> | undefined;
  #recordProblem: unknown;

  private constructor(job: Job, parts: CoordinatorParts, output: GrowingFile, failed: GrowingFile) {
    this.#job = job;
    this.#parts = parts;
    this.#output = output;
    this.#failed = failed;
    const { error: _error, ...state } = job.state;
    this.#state = { ...state, status: "running" };
    this.#chunks = cutChunks(job, parts)[Symbol.asyncIterator]();
  }

  static async open(job: Job, parts: CoordinatorParts): Promise<Coordinator> {
    const output = await GrowingFile.open(partialPath(job), job.state.outputBytes);
    const failed = await GrowingFile.open(job.definition.failed, job.state.failedBytes);
    return new Coordinator(job, parts, output, failed);
  }

  async run(): Promise<JobState> {
    await this.#record();
    for (;;) {
      await this.#fill();
      const head = this.#outstanding[0];
      if (head === undefined) return await this.#finish();
      const ended = await this.#awaitHead(head);
      if (ended !== undefined) return ended;
    }
  }

  /** Records the end of this run. */
  async end(status: JobState["status"], error?: InferyardError): Promise<JobState> {
    this.#state = { ...this.#state, status, ...(error === undefined ? {} : { error: error.toJSON() }) };
    const ids = this.#outstanding.map(({ chunk }) => chunk.id);
    if (status === "cancelled") await this.#parts.queue.remove(ids);
    else await this.#parts.queue.withdraw(ids).catch(() => undefined); // the queue may be what failed
    return await this.#record();
  }

  async close(): Promise<void> {
    await Promise.all([this.#output.close(), this.#failed.close(), this.#chunks.return?.()]);
  }

  async #fill(): Promise<void> {
    while (!this.#isRead && this.#outstanding.length < maxOutstanding && this.#outstandingBytes < maxOutstandingBytes) {
      const next = await this.#chunks.next();
      if (next.done === true) {
        this.#isRead = true;
        return;
      }
      if (next.value.chunk.rows.length > 0) await this.#add(next.value.chunk);
      this.#outstanding.push(next.value);
      this.#outstandingBytes += next.value.bytes;
      if (this.#isDue() && this.#outstanding.length > 1) return; // the state is recorded while a long input fills the queue
    }
  }

  /** Adds a chunk. An earlier run may have left the error of the whole job for it, whose cause may be gone. */
  async #add(chunk: RowChunk): Promise<void> {
    if (this.#unsure > 0) {
      this.#unsure -= 1;
      const left = await this.#parts.queue.result(chunk.id);
      if (left?.fatal !== undefined) await this.#parts.queue.remove([chunk.id]);
    }
    await this.#parts.queue.add(chunk);
  }

  /** Waits for the result of the first outstanding chunk and merges it. Returns the state if the job was paused or cancelled meanwhile. */
  async #awaitHead(head: CutChunk): Promise<JobState | undefined> {
    for (let wait = minWaitMs; ; wait = Math.min(2 * wait, maxWaitMs)) {
      if (this.#isDue()) {
        const ended = await this.#check();
        if (ended !== undefined) return ended;
      }
      if (this.#parts.signal.aborted) return await this.end("paused");
      const result = head.chunk.rows.length === 0 ? noResult : await this.#parts.queue.result(head.chunk.id);
      if (result !== undefined) {
        await this.#merge(head, result);
        return undefined;
      }
      await delay(wait, this.#parts.signal).catch(() => undefined); // aborted: seen above
    }
  }

  #isDue(): boolean {
    return performance.now() - this.#checkpoint > checkpointMs;
  }

  async #check(): Promise<JobState | undefined> {
    if (this.#recordProblem !== undefined) throw this.#recordProblem;
    this.#checkpoint = performance.now();
    this.#recording ??= this.#write()
      .catch((error: unknown) => (this.#recordProblem = error))
      .finally(() => (this.#recording = undefined));
    const request = await this.#parts.store.takeRequest(this.#job.id);
    if (request !== undefined) return await this.end(request === "pause" ? "paused" : "cancelled");
    this.#parts.checkWorkers?.();
    await this.#parts.queue.recover(this.#outstanding.map(({ chunk }) => chunk).filter(({ rows }) => rows.length > 0));
    return undefined;
  }

  async #merge(cut: CutChunk, { output, done, failed, fatal }: EncodedResult): Promise<void> {
    const { chunk, bytes, rows, position } = cut;
    if (fatal !== undefined) {
      await this.#parts.queue.remove([chunk.id]);
      throw InferyardError.fromJSON(fatal);
    }
    const all = cut.failed.length === 0 ? failed : inOrder([...cut.failed, ...failed]);
    if (done + all.length !== rows)
      throw new InferyardError("RUN_FAILED", `${done + all.length} results came for ${rows} rows (${chunk.id})`);
    await this.#output.append(output);
    await this.#failed.append(Buffer.from(all.map(({ line }) => `${line}\n`).join("")));
    this.#outstanding.shift();
    this.#outstandingBytes -= bytes;
    if (chunk.rows.length > 0) this.#merged.push(chunk.id);
    const state = this.#state;
    this.#state = {
      ...state,
      chunks: state.chunks + 1,
      position,
      rows: state.rows + rows,
      done: state.done + done,
      failed: state.failed + all.length,
      outputBytes: this.#output.bytes,
      failedBytes: this.#failed.bytes,
      progress: cut.progress,
    };
  }

  /** Flushes the files and records what is merged, once no other record is being written. */
  async #record(): Promise<JobState> {
    await this.#recording;
    await this.#output.flush();
    await this.#failed.flush();
    return await this.#write();
  }

  /** Records what is merged now, and removes it from the queue. Without a flush, during which appending waits: what a killed process has written is not lost. */
  async #write(): Promise<JobState> {
    const now = performance.now();
    const state = { ...this.#state, milliseconds: Math.round(this.#state.milliseconds + now - this.#since) };
    const merged = this.#merged;
    this.#state = state;
    this.#since = now;
    this.#checkpoint = now;
    this.#merged = [];
    await this.#parts.store.save(this.#job.id, state);
    if (merged.length > 0) await this.#parts.queue.remove(merged);
    this.#parts.onState?.(state);
    return state;
  }

  async #finish(): Promise<JobState> {
    await this.#output.create();
    this.#state = { ...this.#state, progress: 1 };
    await this.#record();
    const [lines, output] = [partialPath(this.#job), this.#job.definition.output.path];
    if (this.#parts.convert === undefined) await withDiskErrors(output, () => rename(lines, output));
    else await this.#parts.convert(lines, output);
    return await this.end("done");
  }
}

/** The result of a chunk none of whose rows needs a worker. */
const noResult: EncodedResult = { output: Buffer.alloc(0), done: 0, failed: [] };

function inOrder(failed: readonly FailedRow[]): readonly FailedRow[] {
  return [...failed].sort((one, other) => one.number - other.number);
}
