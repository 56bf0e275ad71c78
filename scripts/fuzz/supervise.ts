/** Fuzzes one target in child processes: one that ends or hangs is a failure of the input that ran, and another goes on. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { failureFolder, keep } from "./corpus.ts";
import type { FuzzOptions, Progress } from "./fuzzer.ts";
import { type ChildMessage, type ChildRequest, ownFailure, readCurrent } from "./messages.ts";
import type { Failure } from "./oracle.ts";

export interface SavedFailure extends Failure {
  /** The file with the input. */
  readonly path: string;
  /** The command that runs this input again. */
  readonly command: string;
}

export interface Report extends Progress {
  readonly target: string;
  readonly seconds: number;
  readonly failures: readonly SavedFailure[];
}

/** An input that takes longer, in seconds on the clock, is ended. Far above the limits of targets: the machine may be busy. */
const maxSilence = 30;
/** Processes started again after one died, for one target. */
const maxRestarts = 5;
/** Heap of the fuzzing process in MiB. */
const heap = 1024;

export async function superviseTarget(options: FuzzOptions): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-fuzz-"));
  const started = performance.now();
  const failures = new Map<string, SavedFailure>();
  const report = (failure: Failure, input: Uint8Array): void => {
    if (failures.has(failure.key)) return;
    const path = keep(failureFolder(), input, `${options.target}-`);
    failures.set(failure.key, { ...failure, path, command: `npm run fuzz -- --target ${options.target} --input ${path}` });
  };
  const total = { executions: 0, accepted: 0 };
  let last: Progress = { executions: 0, accepted: 0, features: 0, covered: 0, edges: 0, corpus: 0 };
  try {
    for (let start = 0; start <= maxRestarts; start += 1) {
      const left = options.seconds - (performance.now() - started) / 1000;
      if (start > 0 && left < 1) break;
      const current = join(folder, `current-${start}`);
      const request: ChildRequest = {
        ...options,
        seconds: start === 0 ? options.seconds : left,
        seed: options.seed + start,
        current,
      };
      const ending = await runChild(request, report, (progress) => (last = progress));
      total.executions += last.executions;
      total.accepted += last.accepted;
      if (ending === "done") break;
      if (ending.started) report(ending.failure, readCurrent(current).input);
      else throw new Error(`the fuzzer of ${options.target} fails: ${ending.failure.message}\n${ending.failure.stack}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const seconds = (performance.now() - started) / 1000;
  return { ...last, ...total, target: options.target, seconds, failures: [...failures.values()] };
}

type Ending = "done" | { readonly started: boolean; readonly failure: Failure };

function runChild(
  request: ChildRequest,
  report: (failure: Failure, input: Uint8Array) => void,
  progress: (progress: Progress) => void,
): Promise<Ending> {
  const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  const flags = [`--max-old-space-size=${heap}`, "--enable-source-maps", "--import", path("coverage/register.mjs")];
  const child = spawn(process.execPath, [...flags, path("child.ts")], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  child.send(request);
  let errors = "";
  child.stderr?.on("data", (chunk) => (errors = (errors + String(chunk)).slice(-6000)));
  let [isDone, started, hangs] = [false, false, false];
  child.on("message", (message: ChildMessage) => {
    if (message.kind === "failed") report(message.failure, Buffer.from(message.input, "base64"));
    else if (message.kind === "progress") progress(message.progress);
    else if (message.kind === "done") isDone = true;
    else started = true;
  });
  let [seen, seenAt] = [-1, performance.now()];
  const watch = setInterval(() => {
    if (!started || isDone) return;
    const { count } = readCurrent(request.current);
    if (count !== seen) [seen, seenAt] = [count, performance.now()];
    if (performance.now() - seenAt < maxSilence * 1000) return;
    hangs = true;
    child.kill("SIGKILL");
  }, 500);
  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      clearInterval(watch);
      if (code === ownFailure) started = false;
      if (isDone) return resolve("done");
      if (hangs) return resolve({ started, failure: { key: "hang", message: `does not end within ${maxSilence} s`, stack: "" } });
      const key = /FATAL ERROR: .*/.exec(errors)?.[0] ?? "the process ends";
      resolve({ started, failure: { key, message: `the process ends (${signal ?? code}): ${key}`, stack: errors } });
    });
  });
}
