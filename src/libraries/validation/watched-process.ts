/** A child process that loads libraries: started, watched, and ended with all that it started. */
import { addAbortListener, removeAbortListener } from "../../concurrency/abort-listeners.ts";
import { type ChildProcess, fork } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { abortError } from "../../contract/errors.ts";
import { childArguments } from "../../hosts/node-arguments.ts";
import { holdWatchdogPipe, stdioWithWatchdog } from "../../hosts/parent-watchdog.ts";
import type { EndMessage } from "./child-messages.ts";

/** Options of a child process. */
export interface ProcessOptions<Message> {
  /** The program's module. */
  readonly program: URL;
  readonly arguments: readonly string[];
  /** Milliseconds. */
  readonly timeout: number;
  /** Bytes. */
  readonly maxMemory: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal | undefined;
  readonly onMessage: (message: Message) => void;
}

/** End of a child process. */
export interface ProcessEnd {
  /** Cause of an end before the last message, as a sentence about the library. Undefined: it ended regularly. */
  readonly failure: string | undefined;
  /** The last lines of its stderr. */
  readonly lastLines: readonly string[];
}

/** Bounds of the kept end of stderr. */
const keptCharacters = 8_000;
const keptLines = 10;
/** Milliseconds between two looks at its memory. */
const memoryIntervalMs = 50;
/** Milliseconds in which messages and output that were sent before the end arrive. */
const flushMs = 100;

/** Runs the child until it is done or something ends it. No process is left. Rejects with ABORTED. */
export async function runWatchedProcess<Message extends { readonly kind: string }>(
  options: ProcessOptions<Message | EndMessage>,
): Promise<ProcessEnd> {
  const { program, timeout, maxMemory, environment, signal, onMessage } = options;
  if (signal?.aborted === true) throw abortError(signal);
  const child = fork(fileURLToPath(program), [...options.arguments], {
    execArgv: childArguments(process.execArgv),
    env: environment,
    // A group of its own, so that processes which the library starts are ended too. What the library prints to stdout is dropped.
    detached: process.platform !== "win32",
    stdio: stdioWithWatchdog(["ignore", "ignore", "pipe"]),
  });
  holdWatchdogPipe(child);
  let kept = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    kept = (kept + text).slice(-keptCharacters);
  });
  const settled = new AbortController();
  try {
    const failure = await Promise.race([
      getOutcome(child, onMessage),
      wait(timeout, `it did not end within ${timeout} ms`, { signal: settled.signal }).catch(never),
      memoryExceeded(child, maxMemory, settled.signal),
      aborted(signal, settled.signal),
    ]);
    return { failure, lastLines: getLastLines(kept) };
  } finally {
    settled.abort();
    await end(child);
  }
}

/** Why the child is over: its last message, or its end. */
async function getOutcome(child: ChildProcess, onMessage: (message: never) => void): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.on("message", (message: { readonly kind: string }) => {
      onMessage(message as never);
      if (message.kind === "done" || message.kind === "failed") resolve(undefined);
    });
    child.once("exit", async (code, signal) => {
      await wait(flushMs);
      resolve(signal === null ? `it ended the process with code ${code}` : `it ended the process by ${signal}`);
    });
  });
}

/** Resolves when the child holds more memory than it may. */
async function memoryExceeded(child: ChildProcess, maxMemory: number, settled: AbortSignal): Promise<string> {
  if (process.platform !== "linux") return never();
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop
      await wait(memoryIntervalMs, undefined, { signal: settled, ref: false });
      // oxlint-disable-next-line no-await-in-loop
      const status = await readFile(`/proc/${child.pid}/status`, "utf8");
      const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
      if (kilobytes * 1024 > maxMemory) return `it took more than ${maxMemory} bytes of memory`;
    }
  } catch {
    // It has ended, or the race has.
    return never();
  }
}

async function aborted(signal: AbortSignal | undefined, settled: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal === undefined) return;
    const stop = (): void => reject(abortError(signal));
    addAbortListener(signal, stop);
    addAbortListener(settled, () => removeAbortListener(signal, stop));
  });
}

const never = async (): Promise<never> => new Promise<never>(() => {});

/** Ends the child and its process group, and waits until the child is gone. */
async function end(child: ChildProcess): Promise<void> {
  const isGone = child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  const gone = isGone ? Promise.resolve() : new Promise<void>((resolve) => child.once("exit", () => resolve()));
  if (process.platform === "win32" || child.pid === undefined) child.kill("SIGKILL");
  else killGroup(child.pid);
  await gone;
  child.stderr?.destroy();
  if (child.connected) child.disconnect();
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // ESRCH: nobody is left in it.
  }
}

function getLastLines(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .slice(-keptLines);
}
