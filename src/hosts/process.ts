/**
 * The process host: each loaded model has a child process of its own. A native engine that aborts ends only that process, and
 * all memory is returned to the system when a model is unloaded. Tensors are copied between the processes.
 */
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { likelyCause, messageLines } from "../platform/node/stderr-cause.ts";
import type { Host } from "./host.ts";
import { holdWatchdogPipe, stdioWithWatchdog } from "./parent-watchdog.ts";
import type { Peer, PeerEvents } from "./peer.ts";
import { childArguments } from "./node-arguments.ts";
import { remoteHost } from "./remote-model.ts";

/** A host that runs each model in a child process. */
export function processHost(): Host {
  return remoteHost("process", startProcess);
}

/** Milliseconds after which a child that does not exit by itself is killed, counted from the freeing of its model. */
const maxExitMs = 1_000;
/** Milliseconds to wait for output that a child wrote before it ended; sometimes its end is never seen. */
const maxFlushMs = 50;
/** Maximum length of the kept end of stderr, in UTF-16 code units and in lines. The last lines of an engine say why it died. */
const keptCharacters = 8_000;
const keptLines = 10;

function startProcess(events: PeerEvents): Peer {
  return startChild(new URL("../composition/node/model-process.ts", import.meta.url), events);
}

/** What the starter of a child process is told. */
export interface ChildEvents<Received> extends Pick<PeerEvents, "onDeath"> {
  readonly onAnswer: (message: Received) => void;
}

/** A child process; `send` throws if the message cannot be cloned. */
export interface Child<Sent> extends Omit<Peer, "send"> {
  send(message: Sent): void;
}

/** Starts a program of this package in a child process, which serves its parent until that ends; see `becomeChild`. */
export function startChild<Sent extends object, Received>(
  program: URL,
  { onAnswer, onDeath }: ChildEvents<Received>,
): Child<Sent> {
  const child = fork(fileURLToPath(program), [], {
    serialization: "advanced",
    execArgv: childArguments(process.execArgv),
    stdio: stdioWithWatchdog(["ignore", 2, "pipe"]), // the child's stdout goes to our stderr, since our stdout is for results only
  });
  holdWatchdogPipe(child);
  const stderrTail = captureStderrTail(child);
  const ended = new Promise<void>((resolve) => {
    child.once("error", (cause) => {
      onDeath(`the process could not be started: ${cause.message}`, { cause });
      resolve();
    });
    child.once("exit", async (code, signal) => {
      const { cause, lines } = await stderrTail();
      const suffix = cause === undefined ? "" : `, saying: ${cause}`;
      onDeath(`the process ${howItEnded(code, signal)}${suffix}`, { facts: { exitCode: code, signal, lastLines: lines } });
      resolve();
    });
  });
  child.on("message", (message) => onAnswer(message as Received));
  const kill = async (): Promise<void> => {
    hold(child, "busy"); // until it is gone
    child.kill("SIGKILL"); // reaches a busy process and a stopped one
    await ended;
  };
  return {
    kind: "process",
    interruptible: true,
    // A message to a child that has just died is lost; its death is reported separately.
    send: (message) => void child.send(message, () => {}),
    setBusy: (state) => hold(child, state),
    async end() {
      hold(child, "busy"); // until it is gone
      if (child.connected) child.disconnect();
      const outcome = await Promise.race([ended, setTimeout(maxExitMs, "late", { ref: false })]);
      if (outcome === "late") await kill();
    },
    kill,
  };
}

function howItEnded(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === null) return `ended with code ${code}`;
  // No process ends by SIGKILL by itself: the system sends it when memory runs out, or an operator does.
  return signal === "SIGKILL"
    ? "was killed (SIGKILL), probably because the machine or its container ran out of memory"
    : `died of ${signal}`;
}

interface StderrTail {
  /** The line that most likely names the cause. */
  readonly cause: string | undefined;
  /** The last lines, without stack traces. */
  readonly lines: readonly string[];
}

/** Forwards the child's stderr and keeps its end. The returned function is called when the child has ended. */
function captureStderrTail(child: ChildProcess): () => Promise<StderrTail> {
  let kept = "";
  const silence = new Promise<void>((resolve) => child.stderr?.once("close", resolve));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    kept = (kept + text).slice(-keptCharacters);
    process.stderr.write(text);
  });
  return async () => {
    await Promise.race([silence, setTimeout(maxFlushMs)]);
    const messages = messageLines(kept);
    return { cause: likelyCause(messages), lines: messages.slice(-keptLines) };
  };
}

/** An idle child must not keep the program alive: neither the child itself, nor its channel, nor its stderr. */
function hold(child: ChildProcess, state: "busy" | "idle"): void {
  const stderr = child.stderr as (NodeJS.ReadableStream & { ref?(): void; unref?(): void }) | null;
  if (state === "busy") {
    child.ref();
    child.channel?.ref();
    stderr?.ref?.();
  } else {
    child.unref();
    child.channel?.unref();
    stderr?.unref?.();
  }
}
