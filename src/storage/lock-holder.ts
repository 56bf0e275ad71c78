/** Identifies the process that holds a lock, so that other processes can find out whether it still runs. */
import { randomUUID } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { isProcessRunning } from "../platform/node/process-running.ts";

/** Identifies the process that holds a lock file; it is the content of the file. */
export interface LockHolder {
  /** Host name. */
  readonly host: string;
  /** Identifier of the current boot of the machine; "" if the platform has none. */
  readonly boot: string;
  /** PID namespace: process ids are comparable only within one (Linux containers). "" if the platform has none. */
  readonly processes: string;
  readonly pid: number;
  /** Start time of the process in a unit of the platform; "" if it is unknown. */
  readonly started: string;
  /** When the lock was taken, in milliseconds since 1970 by the clock of the holder. */
  readonly since: number;
  /** Unique identifier of this acquisition. */
  readonly token: string;
}

/** Describes this process as the holder of a new lock, with a new token. */
export async function currentHolder(): Promise<LockHolder> {
  const [boot, processes, started] = await Promise.all([bootId(), pidNamespace(), processStartTime(process.pid)]);
  return { host: hostname(), boot, processes, pid: process.pid, started: started ?? "", since: Date.now(), token: randomUUID() };
}

/**
 * Whether the process that holds a lock still runs. "dead" and "alive" are certain; a process on another machine or in another
 * container is "unknown".
 */
export async function holderState(holder: LockHolder): Promise<"dead" | "alive" | "unknown"> {
  const own = await currentHolder();
  if (holder.host !== own.host || holder.boot !== own.boot || holder.processes !== own.processes) return "unknown";
  if (!isProcessRunning(holder.pid)) return "dead";
  const started = await processStartTime(holder.pid);
  if (started === undefined || holder.started === "") return "unknown";
  // Another start time means that the process id was reused.
  return started === holder.started ? "alive" : "dead";
}

/** Linux: proc(5), boot_id. */
async function bootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")).trim();
}

/** Linux: pid_namespaces(7). */
async function pidNamespace(): Promise<string> {
  return await readlink("/proc/self/ns/pid").catch(() => "");
}

/** Linux: field 22 of /proc/pid/stat (proc(5)), in clock ticks since boot. The second field is in parentheses and may contain spaces. */
async function processStartTime(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ")[19];
}
