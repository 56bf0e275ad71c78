/** The folder of jobs: `ID/job.json` says what a job is, `ID/state.json` how far it is, `ID/request` that somebody wants it to pause or to end. */
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { writeFileAtomically } from "../../storage/atomic-write.ts";
import { errorCode, listNames, statOrUndefined, withDiskErrors } from "../../storage/disk.ts";
import { type LockHolder, holderState } from "../../storage/lock-holder.ts";
import { readLock, withLock } from "../../storage/lock.ts";
import type { Job, JobDefinition, JobState } from "./job.ts";

/** What can be asked of a job that runs in another process. */
export type JobRequest = "pause" | "cancel";

/** Jobs on this machine. */
export class JobStore {
  readonly folder: string;

  /** `folder`: absolute path; created with the first job. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Folder of the spool that all jobs of this machine share. */
  get spool(): string {
    return join(this.folder, "spool");
  }

  /** Creates a job. Throws INPUT_INVALID if there is one with this id, or if the input cannot be read. */
  async create(id: string, definition: JobDefinition): Promise<Job> {
    checkId(id);
    if ((await statOrUndefined(this.#path(id, "job.json"))) !== undefined)
      throw invalidInput(`there is a job ${id} already`, `inferyard jobs status ${id}`);
    const { inputBytes, inputTime } = await inputFacts(definition.input.path);
    const state: JobState = {
      status: "running",
      chunks: 0,
      position: { offset: 0, number: 0 },
      rows: 0,
      done: 0,
      failed: 0,
      outputBytes: 0,
      failedBytes: 0,
      milliseconds: 0,
      progress: 0,
      inputBytes,
      inputTime,
    };
    const created = new Date().toISOString();
    await withDiskErrors(this.folder, () => mkdir(join(this.folder, id), { recursive: true, mode: 0o700 }));
    await this.save(id, state);
    await writeFileAtomically(this.#path(id, "job.json"), JSON.stringify({ created, definition }));
    return { id, definition, state, created };
  }

  /** The job. Throws NOT_FOUND if there is none with this id, and INPUT_INVALID if its files are damaged. */
  async get(id: string): Promise<Job> {
    const job = await this.find(id);
    if (job !== undefined) return job;
    throw new InferyardError("NOT_FOUND", `there is no job ${id} here`, { remedy: "inferyard jobs status lists them" });
  }

  /** The job, or undefined if there is none with this id. Throws INPUT_INVALID if its files are damaged. */
  async find(id: string): Promise<Job | undefined> {
    checkId(id);
    const [job, state] = await Promise.all([this.#read(id, "job.json"), this.#read(id, "state.json")]);
    if (job === undefined || state === undefined) return undefined;
    try {
      return { id, ...(JSON.parse(job) as Pick<Job, "created" | "definition">), state: JSON.parse(state) as JobState };
    } catch (cause) {
      const message = `the files of the job ${id} are damaged`;
      throw new InferyardError("INPUT_INVALID", message, { cause, remedy: `remove ${join(this.folder, id)}, and run it again` });
    }
  }

  /** All jobs, the newest first. */
  async list(): Promise<readonly Job[]> {
    const ids = (await listNames(this.folder)).filter((name) => idPattern.test(name));
    const jobs = await Promise.all(ids.map((id) => this.find(id)));
    return jobs.filter((job) => job !== undefined).sort((one, other) => (one.created < other.created ? 1 : -1));
  }

  /** Replaces the state of a job. */
  async save(id: string, state: JobState): Promise<void> {
    await writeFileAtomically(this.#path(id, "state.json"), JSON.stringify(state));
  }

  /** Removes a job's files. Its output stays. */
  async remove(id: string): Promise<void> {
    checkId(id);
    await withDiskErrors(this.folder, () => rm(join(this.folder, id), { recursive: true, force: true }));
  }

  /** Runs `work` as the only process that runs the job. Throws JOB_RUNNING if another one does. */
  async exclusively<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    const control = new AbortController();
    let other: LockHolder | undefined;
    const onWait = (holder: LockHolder): void => {
      other = holder;
      control.abort();
    };
    try {
      return await withLock(this.#path(id, "run.lock"), work, { signal: control.signal, onWait });
    } catch (error) {
      if (other === undefined) throw error;
      throw new InferyardError("JOB_RUNNING", `the job ${id} is running already, in the process ${other.pid} on ${other.host}`, {
        remedy: `inferyard jobs status ${id}`,
      });
    }
  }

  /** Whether a process runs the job. */
  async isRunning(id: string): Promise<boolean> {
    const lock = await readLock(this.#path(id, "run.lock"));
    return lock?.holder !== undefined && (await holderState(lock.holder)) !== "dead";
  }

  /** Asks the process that runs a job to pause or cancel it. */
  async request(id: string, request: JobRequest): Promise<void> {
    await writeFileAtomically(this.#path(id, "request"), request);
  }

  /** Takes what was asked of the job: a request is seen once. */
  async takeRequest(id: string): Promise<JobRequest | undefined> {
    const text = await this.#read(id, "request");
    if (text === undefined) return undefined;
    await rm(this.#path(id, "request"), { force: true });
    return text === "pause" || text === "cancel" ? text : undefined;
  }

  #path(id: string, name: string): string {
    return join(this.folder, id, name);
  }

  async #read(id: string, name: string): Promise<string | undefined> {
    try {
      return await readFile(this.#path(id, name), "utf8");
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      return await withDiskErrors(this.#path(id, name), () => Promise.reject(error as Error));
    }
  }
}

const idPattern = /^(?!spool$)[a-z0-9][a-z0-9_-]{0,63}$/i;

/** Throws INPUT_INVALID for a text that can be no id of a job. */
export function checkId(id: string): void {
  if (idPattern.test(id)) return;
  throw invalidInput(
    `${JSON.stringify(id.slice(0, 80))} is no id of a job`,
    "ids have 1 to 64 letters, digits, - and _, and begin with a letter or a digit",
  );
}

/** Size and time of an input. Throws INPUT_INVALID if it is no file. */
export async function inputFacts(path: string): Promise<Pick<JobState, "inputBytes" | "inputTime">> {
  const status = await stat(path).catch((cause: unknown) => {
    throw new InferyardError("INPUT_INVALID", `${path} cannot be read: ${(cause as Error).message}`, { cause });
  });
  if (!status.isFile()) throw invalidInput(`${path} is no file`, "a job reads its input again when it is resumed: give a file");
  return { inputBytes: status.size, inputTime: status.mtimeMs };
}
