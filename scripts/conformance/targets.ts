/** Runs all cases on a target, in a process of its own: an engine that ends its process fails that case, and the next one starts another. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ConformanceCase } from "./cases.ts";
import type { Outcome } from "./judge.ts";

export const targets = ["native", "interpreter", "onnx", "wasm", "xla"] as const;
export type Target = (typeof targets)[number];

export interface Work {
  readonly target: Target;
  readonly cases: readonly ConformanceCase[];
}

/** Longest time for one case. */
const patience = 120_000;

/** Outcomes in the order of the cases. Error where the target cannot be started at all. */
export async function judgeAll(target: Target, cases: readonly ConformanceCase[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  while (outcomes.length < cases.length) {
    const before = outcomes.length;
    const end = await judgeInChild({ target, cases: cases.slice(before) }, outcomes);
    if (outcomes.length >= cases.length || end === "restart") continue;
    if (end === "not started") throw new Error(`the target "${target}" cannot be started: is its package installed?`);
    outcomes.push({ verdict: "failed", reason: end });
  }
  return outcomes;
}

/** Adds outcomes until the child is done or ends; says how it ended. */
async function judgeInChild(work: Work, outcomes: Outcome[]): Promise<string> {
  const child = fork(fileURLToPath(new URL("target-child.ts", import.meta.url)), { silent: true, serialization: "advanced" });
  child.stdout?.resume();
  child.stderr?.resume();
  let [ready, late] = [false, false];
  let timer = stopLater(child, () => (late = true));
  return await new Promise((resolve) => {
    child.on("message", (message: Outcome | "ready") => {
      clearTimeout(timer);
      timer = stopLater(child, () => (late = true));
      if (message === "ready") ready = true;
      else outcomes.push(message);
    });
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      if (!ready) resolve("not started");
      else if (late) resolve(`it took more than ${patience / 1000} seconds`);
      else resolve(code === 0 ? "restart" : `it ended the process: ${signal ?? `exit code ${code}`}`);
    });
    child.send(work);
  });
}

function stopLater(child: ChildProcess, tell: () => void): NodeJS.Timeout {
  return setTimeout(() => {
    tell();
    child.kill("SIGKILL");
  }, patience);
}
