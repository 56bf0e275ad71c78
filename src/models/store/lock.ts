/**
 * Locks between processes, as files. A lock keeps two from doing the same work twice and nothing else: what is written stays right without
 * it, since content is checked by digest and appears by one rename. A holder that was killed is noticed at once on its own machine, and
 * on another one when it gives no sign of life any more.
 */
import { link, mkdir, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { throwIfAborted } from "../../errors.ts";
import { type LockHolder, currentHolder, holderState } from "./lock-holder.ts";
import { errorCode, diskError } from "./disk.ts";
import { stagingName } from "./staging.ts";

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once, when another holds the lock. */
  readonly onWait?: ((holder: LockHolder) => void) | undefined;
  /** A holder whose state is unknown and who gave no sign of life for this long, is taken for dead. */
  readonly staleAfterMs?: number;
}

/** How often a holder gives a sign of life, by touching the file. */
const heartbeatMs = 5000;
const defaultStaleAfterMs = 6 * heartbeatMs;
const pollMs = 100;

/** Runs `work` while holding the lock. Throws ABORTED when the caller gives up waiting. */
export async function withLock<Result>(path: string, work: () => Promise<Result>, options: LockOptions = {}): Promise<Result> {
  const release = await acquire(path, options);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** The same where nobody holds the lock; where somebody does, nothing is done. */
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
  let told = false;
  let watched: { readonly mtimeMs: number; readonly since: number; readonly token: string } | undefined;
  for (;;) {
    throwIfAborted(signal);
    if (await create(path, holder)) return await keepAlive(path, holder);
    const other = await readLock(path);
    if (other === undefined) continue; // released just now
    const { mtimeMs } = other;
    const token = other.holder?.token ?? "";
    // Ages are told by this process's own clock: that of a file server may be another.
    if (watched === undefined || watched.mtimeMs !== mtimeMs || watched.token !== token) {
      watched = { mtimeMs, token, since: performance.now() };
    }
    const state = other.holder === undefined ? "unknown" : await holderState(other.holder);
    const silent = performance.now() - watched.since > staleAfterMs;
    if (state === "dead" || (state === "unknown" && silent)) {
      await breakLock(path, token);
      continue;
    }
    if (!told && other.holder !== undefined) onWait?.(other.holder);
    told = told || other.holder !== undefined;
    await delay(pollMs, signal);
  }
}

async function create(path: string, holder: LockHolder): Promise<boolean> {
  // Written first and linked then: nobody sees a lock without its holder.
  const staging = `${path}${stagingName("writing")}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(staging, "wx");
    try {
      await file.writeFile(JSON.stringify(holder));
    } finally {
      await file.close();
    }
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

/** For file systems without hard links. */
async function createWithoutLinks(path: string, holder: LockHolder): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    try {
      await file.writeFile(JSON.stringify(holder));
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Gives signs of life until released. */
async function keepAlive(path: string, holder: LockHolder): Promise<() => Promise<void>> {
  const timer = setInterval(() => {
    const now = new Date();
    // A lock that was taken away is noticed at release; nothing depends on it.
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
  /** Undefined where the file is not (yet) readable as one of ours. */
  readonly holder: LockHolder | undefined;
}

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
    return undefined; // cut off by a crash: told by its age
  }
}

/** Takes a dead lock away. Whoever took a living one by mistake, because it changed in between, puts it back. */
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

/** Ends early, with ABORTED, when the caller gives up. */
export async function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done, { once: true });
  });
  throwIfAborted(signal);
}
