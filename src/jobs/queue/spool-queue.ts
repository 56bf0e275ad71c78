/**
 * The queue of one machine: a folder of files (a spool). A chunk is a file; a worker takes it by renaming it, which the file system does for one process alone,
 * and leaves the result under one more rename. There is neither a server nor a log to compact: files are removed as the results are merged, and after a kill at
 * any moment every chunk is in exactly one of the folders. (SQLite would do the same from Node.js 22.5 alone.)
 *
 * Folders: `waiting/ID`; `taken/ID@WORKER`; `done/ID`; `history/ID`, the deaths that a chunk has caused; `workers/WORKER`, who a worker is, as in a lock file;
 * `staging/`, files that are being written.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../storage/atomic-write.ts";
import { errorCode, listNames, statOrUndefined, withDiskErrors } from "../../storage/disk.ts";
import { type LockHolder, currentHolder, holderState } from "../../storage/lock-holder.ts";
import { delay } from "../../storage/lock.ts";
import { type RowChunk, type RowChunkResult, type EncodedResult, chunkIndex, decodeResult, encodeResult } from "./chunk.ts";
import { type ChunkHistory, type ChunkQueue, type ChunkLease, type WorkerQueue, afterDeath, noHistory } from "./chunk-queue.ts";

const folders = ["waiting", "taken", "done", "history", "workers", "staging"] as const;
/** Interval at which a worker shows that it lives, and the silence after which a worker on another machine counts as dead. */
const heartbeatMs = 5000;
const staleAfterMs = 6 * heartbeatMs;
/** Age at which files are removed that nobody can need: parts of a killed process, and results of a job that was never resumed. */
const abandonedMs = { staging: 600_000, done: 7 * 24 * 3_600_000 };
/** Bounds of the time between two looks for a chunk. */
const [minWaitMs, maxWaitMs] = [2, 100];

/** What the file of a worker says beside who it is. */
interface WorkerFile extends LockHolder {
  /** The row that it computes alone. */
  readonly row?: number;
}

class Spool {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  path(part: (typeof folders)[number], name: string): string {
    return join(this.#folder, part, name);
  }

  names(part: (typeof folders)[number]): Promise<string[]> {
    return listNames(join(this.#folder, part));
  }

  async create(): Promise<void> {
    await withDiskErrors(this.#folder, async () => {
      for (const part of folders) await mkdir(join(this.#folder, part), { recursive: true, mode: 0o700 });
    });
  }

  /** Writes a file under another name and renames it, so that nobody reads a part of it. Not flushed: what a loss of power takes is computed again. */
  async write(part: (typeof folders)[number], name: string, content: string | Buffer): Promise<void> {
    const path = this.path(part, name);
    const staging = this.path("staging", randomUUID());
    await withDiskErrors(path, async () => {
      try {
        await writeFile(staging, content);
        await rename(staging, path);
      } catch (error) {
        await rm(staging, { force: true }).catch(() => undefined);
        throw error;
      }
    });
  }

  /** Removes files that are older than `abandonedMs`. */
  async sweep(): Promise<void> {
    for (const part of ["staging", "done"] as const)
      for (const name of await this.names(part)) {
        const path = this.path(part, name);
        const age = Date.now() - ((await statOrUndefined(path))?.mtimeMs ?? Infinity);
        if (age > abandonedMs[part]) await rm(path, { force: true });
      }
  }

  /** The chunks that workers hold. */
  async taken(): Promise<readonly { readonly name: string; readonly id: string; readonly worker: string }[]> {
    return (await this.names("taken")).map((name) => {
      const [id = "", worker = ""] = name.split("@");
      return { name, id, worker };
    });
  }

  async history(id: string): Promise<ChunkHistory> {
    return (await readJson<ChunkHistory>(this.path("history", id))) ?? noHistory;
  }

  /** Renames a file. False if it is not there, since another process took it. */
  async move(from: string, to: string): Promise<boolean> {
    try {
      await rename(from, to);
      return true;
    } catch (error) {
      if (["ENOENT", "EPERM", "EACCES"].includes(errorCode(error) ?? "") && (await statOrUndefined(from)) === undefined)
        return false;
      return await withDiskErrors(to, () => Promise.reject(error as Error));
    }
  }
}

async function readJson<Value>(path: string): Promise<Value | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Value;
  } catch {
    return undefined; // not there, or cut off by a crash
  }
}

/** Opens the coordinator's side of the spool in a folder, which is created. */
export async function openSpool(folder: string): Promise<ChunkQueue> {
  const spool = new Spool(folder);
  await spool.create();
  await spool.sweep();
  return {
    add: async (chunk) => add(spool, chunk, await spool.taken()),
    result: async (id) => readResult(spool.path("done", id)),
    recover: async (outstanding) => {
      const dead = await deadWorkers(spool);
      for (const { name, id, worker } of await spool.taken())
        if (dead.has(worker)) await giveBack(spool, name, id, dead.get(worker));
      for (const worker of dead.keys()) await rm(spool.path("workers", worker), { force: true });
      const taken = await spool.taken();
      for (const chunk of outstanding) await add(spool, chunk, taken);
    },
    withdraw: async (ids) => {
      for (const id of ids) await withDiskErrors(folder, () => rm(spool.path("waiting", id), { force: true }));
    },
    remove: async (ids) => removeChunks(spool, ids),
    removeJob: async (job) => {
      const held = (await spool.taken()).map(({ id }) => id);
      const all = [...held, ...(await spool.names("waiting")), ...(await spool.names("done")), ...(await spool.names("history"))];
      await removeChunks(
        spool,
        all.filter((id) => id.startsWith(`${job}.`)),
      );
    },
    close: async () => {},
  };
}

async function removeChunks(spool: Spool, ids: readonly string[]): Promise<void> {
  const taken = new Map((await spool.taken()).map(({ id, name }) => [id, name]));
  for (const id of ids) {
    const name = taken.get(id);
    const paths = [spool.path("waiting", id), spool.path("done", id), spool.path("history", id)];
    if (name !== undefined) paths.push(spool.path("taken", name));
    await withDiskErrors(id, async () => void (await Promise.all(paths.map((path) => rm(path, { force: true })))));
  }
}

async function add(spool: Spool, chunk: RowChunk, taken: readonly { readonly id: string }[]): Promise<void> {
  const { id } = chunk;
  if (taken.some((other) => other.id === id)) return;
  for (const part of ["done", "waiting"] as const) if ((await statOrUndefined(spool.path(part, id))) !== undefined) return;
  await spool.write("waiting", id, JSON.stringify(chunk));
}

async function readResult(path: string): Promise<EncodedResult | undefined> {
  try {
    return decodeResult(await readFile(path));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Names of the workers that have died, with the row that each computed alone. */
async function deadWorkers(spool: Spool): Promise<Map<string, number | undefined>> {
  const dead = new Map<string, number | undefined>();
  const names = new Set(await spool.names("workers"));
  for (const { worker } of await spool.taken()) if (!names.has(worker)) dead.set(worker, undefined);
  for (const name of names) {
    const path = spool.path("workers", name);
    const [file, status] = [await readJson<WorkerFile>(path), await statOrUndefined(path)];
    if (status === undefined) continue; // it has just ended
    const state = file === undefined ? "unknown" : await holderState(file);
    const isSilent = Date.now() - status.mtimeMs > staleAfterMs;
    if (state === "dead" || (state === "unknown" && isSilent)) dead.set(name, file?.row);
  }
  return dead;
}

/** Puts a dead worker's chunk back with the death in its history. */
async function giveBack(spool: Spool, name: string, id: string, row: number | undefined): Promise<void> {
  await spool.write("history", id, JSON.stringify(afterDeath(await spool.history(id), row)));
  await spool.move(spool.path("taken", name), spool.path("waiting", id));
}

/** Opens the workers' side of the spool in a folder, which is created. Each call is one worker. */
export async function openSpoolWorker(folder: string): Promise<WorkerQueue> {
  const spool = new Spool(folder);
  await spool.create();
  const holder = await currentHolder();
  const worker = holder.token;
  const file = spool.path("workers", worker);
  await writeFileAtomically(file, JSON.stringify(holder));
  const timer = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, heartbeatMs);
  timer.unref();
  const mark = (row: number | undefined): Promise<void> => spool.write("workers", worker, JSON.stringify({ ...holder, row }));
  return {
    take: async (signal) => {
      for (let wait = minWaitMs; !signal.aborted; wait = Math.min(wait * 2, maxWaitMs)) {
        const lease = await tryTake(spool, worker, mark);
        if (lease !== undefined) return lease;
        await delay(wait, signal).catch(() => undefined); // aborted: the loop ends
      }
      return undefined;
    },
    close: async () => {
      clearInterval(timer);
      await rm(file, { force: true });
    },
  };
}

/** Takes the chunk with the lowest index, whatever its job, so that jobs share the workers. */
async function tryTake(spool: Spool, worker: string, mark: ChunkLease["mark"]): Promise<ChunkLease | undefined> {
  const waiting = await spool.names("waiting");
  for (const id of waiting.sort((one, other) => chunkIndex(one) - chunkIndex(other))) {
    const taken = spool.path("taken", `${id}@${worker}`);
    if (!(await spool.move(spool.path("waiting", id), taken))) continue;
    const chunk = await readJson<RowChunk>(taken);
    if (chunk === undefined) {
      await rm(taken, { force: true }); // damaged by a loss of power: the coordinator adds it again
      continue;
    }
    return {
      chunk,
      history: await spool.history(id),
      mark,
      finish: async (result: RowChunkResult) => {
        // Nobody waits for a chunk that was removed or given to another worker meanwhile.
        if ((await statOrUndefined(taken)) === undefined) return;
        await spool.write("done", id, encodeResult(result, "text"));
        await rm(taken, { force: true });
      },
      release: async () => void (await spool.move(taken, spool.path("waiting", id))),
    };
  }
  return undefined;
}
