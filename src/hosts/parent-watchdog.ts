/**
 * Ends a child process when its parent has ended, however the parent ended (SIGKILL and the out-of-memory killer included) and
 * whatever the child's main thread does. The parent holds one end of a pipe and writes nothing; the system closes that end with
 * the parent. A worker thread of the child waits for end of file. It does not depend on the main thread, which may be inside a
 * native engine or an endless loop.
 *
 * Limit: a stopped child (SIGSTOP) runs no thread. It ends as soon as it is continued.
 */
import type { ChildProcess, StdioOptions } from "node:child_process";
import type { Duplex } from "node:stream";
import { SHARE_ENV, Worker } from "node:worker_threads";

/** File descriptor of the pipe in the child: the one after the IPC channel. */
const descriptor = 4;

/** The `stdio` option for a child with a watchdog: stdin, stdout, stderr, the IPC channel, the watchdog's pipe. */
export function stdioWithWatchdog(stdio: readonly ["ignore", number | "ignore", "pipe"]): StdioOptions {
  return [...stdio, "ipc", "pipe"];
}

/** The parent's side: keeps the pipe open without keeping the parent alive. */
export function holdWatchdogPipe(child: ChildProcess): void {
  const pipe = child.stdio[descriptor] as (Duplex & { unref?(): void }) | null | undefined;
  pipe?.on("error", () => {}); // the child ended first
  pipe?.unref?.();
}

/** Milliseconds that the main thread has to exit by itself after the parent has ended. */
const graceMs = 300;

/**
 * Program of the thread. It is CommonJS text, since a file would load the module loader, and uses only modules that a worker
 * has loaded already or needs (node:net reads the pipe without a thread of libuv's pool).
 */
const program = `
  const { Socket } = require("node:net");
  const end = () => setTimeout(() => process.kill(process.pid, "SIGKILL"), ${graceMs});
  new Socket({ fd: ${descriptor}, readable: true, writable: false }).once("close", end).on("error", () => {}).resume();
`;

/** Heap limits of the thread. Measured: about 8 MB of private memory, nearly all of it Node.js's own. */
const resourceLimits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 8, codeRangeSizeMb: 1, stackSizeMb: 1 };

/** The child's side: starts the thread, which does not keep the child alive. */
export function watchParent(): void {
  const thread = new Worker(program, { eval: true, env: SHARE_ENV, execArgv: [], trackUnmanagedFds: false, resourceLimits });
  // Without the pipe (a platform that does not inherit it) the child still ends when the IPC channel closes.
  thread.on("error", () => {});
  thread.unref();
}
