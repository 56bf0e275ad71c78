/**
 * Locks between processes, as files. A lock only keeps two processes from doing the same work; correctness does not depend on it, since content is verified by
 * digest and appears by one rename. A lock of a killed process is broken at once on the same machine, and on another one when its heartbeat stops.
 */
import { addAbortListener, removeAbortListener } from "../concurrency/abort-listeners.ts";
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { throwIfAborted } from "../contract/errors.ts";
import { type LockHolder, currentHolder, holderState } from "./lock-holder.ts";
import { errorCode, diskError } from "./disk.ts";
import { stagingName } from "./staging.ts";

/** Options for acquiring a lock file. */
export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once if another process holds the lock. */
  readonly onWait?: ((holder: LockHolder) => void) | undefined;
  /** Milliseconds without a heartbeat after which a holder in an unknown state is considered dead. Default: 30,000. */
  readonly staleAfterMs?: number;
}

/** Interval of the heartbeat: the holder sets the modification time of the lock file. */
const heartbeatMs = 5000;
const defaultStaleAfterMs = 6 * heartbeatMs;
const pollMs = 100;

/**
 * Waits for the lock file at `path`, runs `work` while holding it, and releases it. Throws ABORTED if `signal` is aborted while waiting, and errors of `work`.
 */
export async function withLock<Result>(path: string, work: () => Promise<Result>, options: LockOptions = {}): Promise<Result> {
  const release = await acquire(path, options);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** Runs `work` while holding the lock file at `path`, or does nothing if another process holds it. */
export async function tryWithLock(path: string, work: () => Promise<void>): Promise<void> {
  const holder = await currentHolder();
  if (!(await create(path, holder))) return;
  const release = await keepAlive(path, holder);
  try {
    await work();
  } finally {
    await release();
  }
}

async function acquire(path: string, options: LockOptions): Promise<() => Promise<void>> {
  const { signal, onWait, staleAfterMs = defaultStaleAfterMs } = options;
  const holder = await currentHolder();
  let hasReported = false;
  let watched: { readonly mtimeMs: number; readonly since: number; readonly token: string } | undefined;
  for (;;) {
    throwIfAborted(signal);
    if (await create(path, holder)) return await keepAlive(path, holder);
    const other = await readLock(path);
    if (other === undefined) continue; // released just now
    const { mtimeMs } = other;
    const token = other.holder?.token ?? "";
    // Ages are measured by the clock of this process: that of a file server may differ.
    if (watched === undefined || watched.mtimeMs !== mtimeMs || watched.token !== token) {
      watched = { mtimeMs, token, since: performance.now() };
    }
    const state = other.holder === undefined ? "unknown" : await holderState(other.holder);
    const silent = performance.now() - watched.since > staleAfterMs;
    if (state === "dead" || (state === "unknown" && silent)) {
      await breakLock(path, token);
      continue;
    }
    if (!hasReported && other.holder !== undefined) onWait?.(other.holder);
    hasReported = hasReported || other.holder !== undefined;
    await delay(pollMs, signal);
  }
}

async function create(path: string, holder: LockHolder): Promise<boolean> {
  // The file is written before it is linked, so that no process sees a lock without its holder.
  const staging = `${path}${stagingName("writing")}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(staging, JSON.stringify(holder), { flag: "wx" });
    try {
      await link(staging, path);
      return true;
    } catch (error) {
      if (errorCode(error) === "EEXIST") return false;
      if (errorCode(error) === "ENOENT") throw error;
      return await createWithoutLinks(path, holder);
    } finally {
      await rm(staging, { force: true });
    }
  } catch (error) {
    throw diskError(path, error);
  }
}

/** The same for file systems without hard links. */
async function createWithoutLinks(path: string, holder: LockHolder): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(holder), { flag: "wx" });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Starts the heartbeat of a lock. Returns the function that releases it. */
async function keepAlive(path: string, holder: LockHolder): Promise<() => Promise<void>> {
  const timer = setInterval(() => {
    const now = new Date();
    // A lock that another process broke is noticed at release; correctness does not depend on it.
    utimes(path, now, now).catch(() => undefined);
  }, heartbeatMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    const current = await readLock(path);
    if (current?.holder?.token === holder.token) await rm(path, { force: true });
  };
}

interface LockFile {
  readonly mtimeMs: number;
  /** Undefined if the file is incomplete. */
  readonly holder: LockHolder | undefined;
}

/** The holder of the lock file at `path` and the time of its last heartbeat, or undefined if the lock is free. */
export async function readLock(path: string): Promise<LockFile | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, "utf8"), stat(path)]);
    return { mtimeMs, holder: parseHolder(text) };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw diskError(path, error);
  }
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    const value = JSON.parse(text) as LockHolder;
    return typeof value.token === "string" && Number.isSafeInteger(value.pid) ? value : undefined;
  } catch {
    return undefined; // cut off by a crash: its age decides
  }
}

/** Removes the lock file at `path` of a dead holder with this token. If another process has taken the lock in between, its file is restored. */
export async function breakLock(path: string, token: string): Promise<void> {
  const aside = `${path}${stagingName("removing")}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw diskError(path, error);
  }
  const taken = await readLock(aside);
  if ((taken?.holder?.token ?? "") !== token) {
    await link(aside, path).catch((error: unknown) => {
      if (errorCode(error) !== "EEXIST") throw diskError(path, error);
    });
  }
  await rm(aside, { force: true });
}

/** Waits for `milliseconds`. Throws ABORTED as soon as `signal` is aborted. */
export async function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      removeAbortListener(signal, done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addAbortListener(signal, done);
  });
  throwIfAborted(signal);
}
