/**
 * The host that survives everything: each loaded model has a child process of its own. A native engine that aborts takes its process
 * down and nobody else's, and memory is really given back when a model leaves. Tensors are copied between the processes.
 */
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Host } from "./host.ts";
import { holdWatchdogPipe, stdioWithWatchdog } from "./parent-watchdog.ts";
import { type Peer, type PeerEvents, inheritedArguments } from "./peer.ts";
import type { AnswerMessage } from "./protocol.ts";
import { remoteHost } from "./remote-model.ts";

export function processHost(): Host {
  return remoteHost("process", startProcess);
}

/** A child that does not end by itself within this time after its model was freed is killed. */
const maxExitMs = 1_000;
/** What a child wrote before it ended arrives a little after its end, and sometimes no end of it is seen. */
const maxFlushMs = 50;
/** What an engine wrote last before it died says why; no more than this is kept. */
const keptCharacters = 8_000;
const keptLines = 10;

function startProcess({ onAnswer, onDeath }: PeerEvents): Peer {
  const child = fork(fileURLToPath(new URL("./process-child.js", import.meta.url)), [], {
    serialization: "advanced",
    execArgv: inheritedArguments(),
    stdio: stdioWithWatchdog(["ignore", 2, "pipe"]), // stdout of the child goes to our stderr: ours carries results only
  });
  holdWatchdogPipe(child);
  const lastWords = captureStderrTail(child);
  const ended = new Promise<void>((resolve) => {
    child.once("error", (cause) => {
      onDeath(`the process could not be started: ${cause.message}`, { cause });
      resolve();
    });
    child.once("exit", async (code, signal) => {
      const { cause, lines } = await lastWords();
      const said = cause === undefined ? "" : `, saying: ${cause}`;
      onDeath(`the process ${howItEnded(code, signal)}${said}`, { facts: { exitCode: code, signal, lastLines: lines } });
      resolve();
    });
  });
  child.on("message", (message) => onAnswer(message as AnswerMessage));
  const kill = async (): Promise<void> => {
    hold(child, "busy"); // until it is gone
    child.kill("SIGKILL"); // reaches a busy process and a stopped one
    await ended;
  };
  return {
    kind: "process",
    interruptible: true,
    // A message to a child that has just died is lost; its death is reported all the same.
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
  // Nothing ends a process so by itself: it is what the system does when memory runs out, or an operator.
  return signal === "SIGKILL"
    ? "was killed (SIGKILL), probably because the machine or its container ran out of memory"
    : `died of ${signal}`;
}

interface StderrTail {
  /** The line that says most. */
  readonly cause: string | undefined;
  /** The last lines, stack traces left out. */
  readonly lines: readonly string[];
}

/** Passes on what the child writes to stderr, and remembers the end of it. What is told is asked for when the child has ended. */
function captureStderrTail(child: ChildProcess): () => Promise<StderrTail> {
  let kept = "";
  const silence = new Promise<void>((resolve) => child.stderr?.once("close", resolve));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    kept = (kept + text).slice(-keptCharacters);
    process.stderr.write(text);
  });
  return async () => {
    await Promise.race([silence, setTimeout(maxFlushMs)]);
    const lines = kept.split("\n").map((line) => line.trim());
    const words = lines.filter((line) => line !== "" && !/^(at |\d+: |-----|\^|Node\.js v)/.test(line)); // of a stack nobody learns much
    return { cause: mostTellingLine(words), lines: words.slice(-keptLines) };
  };
}

/** The line that says most of what a dying process writes: the last that names an error, else the last. */
function mostTellingLine(lines: readonly string[]): string | undefined {
  return lines.findLast((line) => /error|terminate|what\(\)|abort|fatal|assert|fail/i.test(line)) ?? lines.at(-1);
}

/** A child at rest must not keep our program alive: neither the child itself, nor its channel, nor its stderr. */
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
