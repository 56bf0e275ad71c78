/** Who holds a lock, told so that another process can see whether the holder still lives. */
import { randomUUID } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

export interface LockHolder {
  readonly host: string;
  /** Changes with every start of the machine; "" where the platform has none. */
  readonly boot: string;
  /** Process numbers mean the same only within one of these (Linux containers); "" where the platform has none. */
  readonly processes: string;
  readonly pid: number;
  /** When the process started, in the platform's own units; "" where it does not say. */
  readonly started: string;
  /** When the lock was taken, in milliseconds since 1970 by the holder's clock. */
  readonly since: number;
  /** Tells two locks of one process apart. */
  readonly token: string;
}

export async function currentHolder(): Promise<LockHolder> {
  const [boot, processes, started] = await Promise.all([bootId(), pidNamespace(), processStartTime(process.pid)]);
  return { host: hostname(), boot, processes, pid: process.pid, started: started ?? "", since: Date.now(), token: randomUUID() };
}

/** "dead" and "alive" are certain; "unknown" must be told by the holder's signs of life. */
export async function holderState(holder: LockHolder): Promise<"dead" | "alive" | "unknown"> {
  const own = await currentHolder();
  if (holder.host !== own.host || holder.boot !== own.boot || holder.processes !== own.processes) return "unknown";
  if (!isRunning(holder.pid)) return "dead";
  const started = await processStartTime(holder.pid);
  if (started === undefined || holder.started === "") return "unknown";
  // The number was given to another process.
  return started === holder.started ? "alive" : "dead";
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, for someone else.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Linux: proc(5), boot_id. */
async function bootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")).trim();
}

/** Linux: pid_namespaces(7). */
async function pidNamespace(): Promise<string> {
  return await readlink("/proc/self/ns/pid").catch(() => "");
}

/** Linux: field 22 of proc(5) /proc/pid/stat, ticks since the machine started. The second field may hold anything, in brackets. */
async function processStartTime(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ")[19];
}
