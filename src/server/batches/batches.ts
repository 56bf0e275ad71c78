/** Batches of requests (OpenAI's Batch API), each a job of `jobs/` whose worker is this server. */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { InferyardError } from "../../contract/errors.ts";
import type { ChunkQueue, WorkerQueue } from "../../jobs/queue/chunk-queue.ts";
import { openSpool, openSpoolWorker } from "../../jobs/queue/spool-queue.ts";
import { jsonlReader } from "../../jobs/rows/jsonl-reader.ts";
import type { JobState } from "../../jobs/store/job.ts";
import { JobStore } from "../../jobs/store/job-store.ts";
import { partialPath, runJob } from "../../jobs/work/coordinator.ts";
import { runWorker } from "../../jobs/work/worker.ts";
import { statOrUndefined, withDiskErrors } from "../../storage/disk.ts";
import type { Identity } from "../http/access/identity.ts";
import { type BatchRecord, BatchRecords, type BatchStatus, isUnfinished, ownerOf } from "./batch-record.ts";
import { type Dispatch, requestExecutor, requestFailedLine, requestFields } from "./batch-requests.ts";
import { FileStore, nowSeconds } from "./file-store.ts";
import { validateInput } from "./validate-input.ts";

/** Time after which a batch expires, in seconds: OpenAI's one completion window, 24h. */
const windowSeconds = 24 * 3600;
const retries = 3;
/** Batches of one client that have not ended, at most. */
const maxUnfinished = 64;
/** Batches that run at once, of all clients and of one: the others wait. Each reads its input on the server's thread. */
const [maxRunning, maxRunningPerClient] = [4, 2];
/** Requests of a chunk: few, so that a killed server repeats few. */
const chunkRows = 8;

/** What the batches of a server need. */
export interface BatchParts {
  /** Folder of files, batches and their jobs; created with the first. */
  readonly folder: string;
  /** Maximum size of all files together. */
  readonly maxFilesBytes: number;
  readonly dispatch: Dispatch;
}

/** The files and batches of a server. */
export class Batches {
  readonly files: FileStore;
  readonly #records: BatchRecords;
  readonly #jobs: JobStore;
  readonly #folder: string;
  readonly #dispatch: Dispatch;
  /** By id, with the client whose batch it is. */
  readonly #running = new Map<string, { readonly owner: string; readonly ended: Promise<void> }>();
  /** Batches that are being recorded, by id, with the client whose batch it is. */
  readonly #creating = new Map<string, string>();
  /** Batches that are to run, by id, in the order of their creation, with the client whose batch it is. */
  readonly #waiting = new Map<string, string>();
  readonly #shutdown = new AbortController();

  constructor({ folder, maxFilesBytes, dispatch }: BatchParts) {
    this.#folder = folder;
    this.files = new FileStore(join(folder, "files"), maxFilesBytes);
    this.#records = new BatchRecords(join(folder, "batches"));
    this.#jobs = new JobStore(join(folder, "batch-jobs"));
    this.#dispatch = dispatch;
  }

  /** Creates a batch and begins with it when it is its turn. Throws NOT_FOUND if there is no such file, and QUEUE_FULL if the client has too many. */
  async create(
    { inputFile, endpoint, metadata }: Pick<BatchRecord, "inputFile" | "endpoint" | "metadata">,
    identity: Identity,
  ): Promise<BatchRecord> {
    const owner = ownerOf(identity);
    await this.files.get(inputFile, owner);
    this.#refuseTooMany(owner);
    const created = nowSeconds();
    const batch: BatchRecord = {
      id: this.#records.newId(),
      endpoint,
      inputFile,
      metadata,
      status: "validating",
      counts: { total: 0, completed: 0, failed: 0 },
      outputId: this.files.newId(),
      errorId: this.files.newId(),
      hasOutput: false,
      hasErrors: false,
      errors: [],
      created,
      expires: created + windowSeconds,
      times: {},
      identity,
    };
    this.#creating.set(batch.id, owner);
    try {
      await this.#records.save(batch);
      await this.#records.prune(owner);
    } finally {
      this.#creating.delete(batch.id);
    }
    this.#start(batch);
    return batch;
  }

  /** The batch. Throws NOT_FOUND if the client has none with this id. */
  get(id: string, identity: Identity): Promise<BatchRecord> {
    return this.#records.get(id, ownerOf(identity));
  }

  /** The batches of a client, the newest first. */
  async list(identity: Identity): Promise<readonly BatchRecord[]> {
    return (await this.#records.list()).filter((batch) => ownerOf(batch.identity) === ownerOf(identity));
  }

  /** Cancels a batch: requests that run end, and the results so far become its output. Throws INPUT_INVALID for one that has ended. */
  async cancel(id: string, identity: Identity): Promise<BatchRecord> {
    const batch = await this.get(id, identity);
    if (!isUnfinished(batch))
      throw new InferyardError("INPUT_INVALID", `the batch is ${batch.status}, and cannot be cancelled any more`);
    const cancelling = await this.#set(id, "cancelling");
    if ((await this.#jobs.find(id)) !== undefined) await this.#jobs.request(id, "cancel");
    // It has no work left, and waits for no other.
    if (this.#waiting.delete(id) || !this.#running.has(id)) this.#begin(id, ownerOf(identity));
    return cancelling;
  }

  /** Goes on with the batches that an earlier process has left. */
  async resume(): Promise<void> {
    for (const batch of await this.#records.list()) if (isUnfinished(batch)) this.#start(batch);
  }

  /** Pauses all batches; the next start of the server goes on with them. */
  async close(): Promise<void> {
    this.#shutdown.abort();
    await Promise.all(Array.from(this.#running.values(), ({ ended }) => ended));
  }

  #refuseTooMany(owner: string): void {
    const owners = [
      ...Array.from(this.#running.values(), (batch) => batch.owner),
      ...this.#waiting.values(),
      ...this.#creating.values(),
    ];
    if (owners.filter((other) => other === owner).length < maxUnfinished) return;
    throw new InferyardError("QUEUE_FULL", `${maxUnfinished} batches have not ended yet, which is the limit`, {
      remedy: "create the batch when one has ended, or put more requests in one",
      data: { limit: maxUnfinished },
      retryAfterMs: 60_000,
    });
  }

  #start({ id, identity }: Pick<BatchRecord, "id" | "identity">): void {
    if (!this.#running.has(id)) this.#waiting.set(id, ownerOf(identity));
    this.#startWaiting();
  }

  #startWaiting(): void {
    for (const [id, owner] of this.#waiting) {
      const running = [...this.#running.values()];
      if (running.length >= maxRunning) return;
      if (running.filter((other) => other.owner === owner).length >= maxRunningPerClient) continue;
      this.#waiting.delete(id);
      this.#begin(id, owner);
    }
  }

  #begin(id: string, owner: string): void {
    if (this.#shutdown.signal.aborted) return;
    const ended = this.#run(id)
      .catch(async (error: unknown) => {
        if (error instanceof InferyardError && error.code === "JOB_RUNNING") return; // another server on this folder has it
        await this.#fail(id, error);
      })
      .catch(() => undefined) // a full disk: the record says what it said before
      .finally(() => {
        this.#running.delete(id);
        this.#startWaiting();
      });
    this.#running.set(id, { owner, ended });
  }

  async #run(id: string): Promise<void> {
    let batch = await this.#records.get(id);
    const input = this.files.path(batch.inputFile);
    if (batch.status === "validating") {
      const { total, errors } = await validateInput(input, batch.endpoint);
      if (errors.length > 0) return void (await this.#set(id, "failed", { errors }));
      batch = await this.#set(id, "in_progress", { counts: { total, completed: 0, failed: 0 } });
    }
    const folder = join(this.#folder, "batch-jobs", id);
    const job =
      (await this.#jobs.find(id)) ??
      (await this.#jobs.create(id, {
        work: { task: "requests", model: "", options: { endpoint: batch.endpoint }, retries },
        input: { path: input, format: "jsonl" },
        output: { path: join(folder, "output.jsonl"), format: "jsonl" },
        failed: join(folder, "errors.jsonl"),
        chunkRows,
      }));
    if (batch.status === "cancelling" && job.state.status !== "done")
      await this.#jobs.save(id, { ...job.state, status: "cancelled" });
    const state = isOver((await this.#jobs.get(id)).state) ? (await this.#jobs.get(id)).state : await this.#work(batch);
    const isExpired = nowSeconds() >= batch.expires;
    if (!isOver(state) && !isExpired) return; // the server ends
    const lines = state.status === "done" ? job.definition.output.path : partialPath(job);
    const [hasOutput, hasErrors] = [
      await this.#publish(lines, batch.outputId, `${id}_output.jsonl`, batch),
      await this.#publish(job.definition.failed, batch.errorId, `${id}_error.jsonl`, batch),
    ];
    const end: BatchStatus = state.status === "done" ? "completed" : state.status === "cancelled" ? "cancelled" : "expired";
    await this.#set(id, end, { hasOutput, hasErrors, counts: toCounts(batch, state) });
    await this.#jobs.remove(id);
  }

  /** Runs the job of a batch with this server as its worker, until it is done, cancelled or expired, or the server ends. */
  async #work(batch: BatchRecord): Promise<JobState> {
    const { id, endpoint, identity } = batch;
    const folder = join(this.#folder, "batch-jobs", id, "spool"); // of its own: batches do not wait for one another
    await withDiskErrors(folder, () => mkdir(folder, { recursive: true, mode: 0o700 }));
    const [queue, work]: [ChunkQueue, WorkerQueue] = [await openSpool(folder), await openSpoolWorker(folder)];
    const [stop, pause] = [new AbortController(), new AbortController()];
    const onShutdown = (): void => pause.abort();
    addAbortListener(this.#shutdown.signal, onShutdown);
    if (this.#shutdown.signal.aborted) onShutdown();
    const timer = setTimeout(onShutdown, Math.min(2 ** 31 - 1, Math.max(0, (batch.expires - nowSeconds()) * 1000)));
    const working = runWorker(work, requestExecutor(endpoint, identity, this.#dispatch), {
      stop: stop.signal,
      abort: stop.signal,
    });
    let problem: unknown;
    working.catch((error: unknown) => (problem = error));
    let last = 0;
    try {
      return await runJob(await this.#jobs.get(id), {
        store: this.#jobs,
        queue,
        reader: jsonlReader(this.files.path(batch.inputFile)),
        fields: requestFields,
        failedLine: requestFailedLine,
        signal: pause.signal,
        checkWorkers: () => {
          if (problem !== undefined) throw problem; // a full disk
        },
        onState: (state) => {
          if (state.rows === last) return;
          last = state.rows;
          void this.#update(id, { counts: toCounts(batch, state) }).catch(() => undefined); // the job's own record counts
        },
      });
    } finally {
      clearTimeout(timer);
      removeAbortListener(this.#shutdown.signal, onShutdown);
      stop.abort();
      await working.catch(() => undefined);
      await Promise.all([queue.close(), work.close()]);
    }
  }

  /** Makes a file of results one of the files that the client can read. False if there are none. */
  async #publish(path: string, id: string, filename: string, { identity }: BatchRecord): Promise<boolean> {
    const bytes = (await statOrUndefined(path))?.size ?? 0;
    if (bytes === 0) return (await this.files.get(id, ownerOf(identity)).catch(() => undefined)) !== undefined;
    await this.files.adopt(path, id, { filename, purpose: "batch_output", owner: ownerOf(identity) });
    return true;
  }

  async #fail(id: string, error: unknown): Promise<void> {
    const message = error instanceof InferyardError ? error.message : "the batch could not run";
    const code = error instanceof InferyardError ? error.code.toLowerCase() : "server_error";
    await this.#set(id, "failed", { errors: [{ code, message, line: null, param: null }] });
  }

  #set(id: string, status: BatchStatus, more: Partial<BatchRecord> = {}): Promise<BatchRecord> {
    return this.#update(id, { ...more, status }, { [status]: nowSeconds() });
  }

  #update(id: string, change: Partial<BatchRecord>, times: BatchRecord["times"] = {}): Promise<BatchRecord> {
    const updating = this.#updates.then(async () => {
      const batch = await this.#records.get(id);
      const isEnding = batch.status === "cancelling" && change.status === "in_progress";
      const changed = { ...batch, ...change, ...(isEnding ? { status: batch.status } : {}), times: { ...batch.times, ...times } };
      await this.#records.save(changed);
      return changed;
    });
    this.#updates = updating.then(
      () => undefined,
      () => undefined,
    );
    return updating;
  }

  /** Changes of records, one after another. */
  #updates: Promise<void> = Promise.resolve();
}

function isOver({ status }: JobState): boolean {
  return status === "done" || status === "cancelled";
}

function toCounts({ counts: { total } }: BatchRecord, { done, failed }: JobState): BatchRecord["counts"] {
  return { total, completed: done, failed };
}
