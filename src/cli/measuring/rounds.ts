/** Rounds of measuring: each subject in a process of its own, one after the other, in an order that rotates from round to round. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { InferyardError, messageOf } from "../../contract/errors.ts";
import type { Figures } from "../../measurements/index.ts";
import { withNotice } from "../session.ts";
import type { Terminal } from "../terminal.ts";
import type { Round, MeasuringTask } from "./measure-round.ts";
import { median } from "./statistics.ts";

/** Something to measure: a task, and flags that override those of the command. */
export interface Subject {
  readonly name: string;
  readonly task: MeasuringTask;
  readonly flags: readonly string[];
}

/** Its rounds, or why it could not be measured. */
export type Outcome =
  | { readonly rounds: readonly Round[]; readonly failure?: never }
  | { readonly rounds?: never; readonly failure: string };

/**
 * Measures all subjects round by round. Subjects alternate, so that a busy moment of the machine affects a round and not a subject; each runs in
 * its own process, so that its memory can be measured separately. A failed subject is not retried. Outcomes are in the order of the subjects.
 */
export async function runRounds(terminal: Terminal, subjects: readonly Subject[], rounds: number): Promise<Outcome[]> {
  const results = subjects.map((): Round[] => []);
  const failures = new Map<number, string>();
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < subjects.length; turn += 1) {
      const index = (turn + round) % subjects.length;
      const subject = subjects[index];
      if (subject === undefined || failures.has(index)) continue;
      try {
        const notice = `measuring ${subject.name}, round ${round + 1} of ${rounds}`;
        results[index]?.push(await withNotice(terminal, notice, runInChild(terminal, subject)));
      } catch (error) {
        if (terminal.signal.aborted || !(error instanceof MeasuringFailed)) throw error;
        failures.set(index, error.message);
      }
    }
  }
  return results.map((rounds, index) => {
    const failure = failures.get(index);
    return failure === undefined ? { rounds } : { failure };
  });
}

/** The medians of the measured values over all rounds of a benchmark. */
export function figuresOf(rounds: readonly Round[]): Figures {
  const of = (name: "loadMs" | "latencyMs" | "perSecond" | "memoryBytes"): number[] => rounds.map((round) => round[name]);
  return {
    rounds: rounds.length,
    unit: rounds[0]?.unit ?? "texts",
    loadMs: median(of("loadMs")),
    latencyMs: median(of("latencyMs")),
    latencyRangeMs: [Math.min(...of("latencyMs")), Math.max(...of("latencyMs"))],
    perSecond: median(of("perSecond")),
    memoryBytes: median(of("memoryBytes")),
  };
}

/** Flags that only the parent process obeys. */
const parentFlags: ReadonlySet<string> = new Set(["--json", "--record", "--write"]);

class MeasuringFailed extends Error {}

const run = promisify(execFile);

async function runInChild(terminal: Terminal, { task, flags, name }: Subject): Promise<Round> {
  const [, program = "", ...words] = process.argv;
  const args = words.filter((word) => !parentFlags.has(word));
  const command = [program, ...args, ...flags, "--here", JSON.stringify(task)];
  try {
    const { stdout } = await run(process.execPath, command, { maxBuffer: 1 << 24, signal: terminal.signal });
    return JSON.parse(stdout) as Round;
  } catch (error) {
    const stderr = typeof error === "object" && error !== null && "stderr" in error ? String(error.stderr).trim() : "";
    // The child reported an error itself: a message and a remedy.
    if (stderr.startsWith("inferyard: "))
      throw new MeasuringFailed(stderr.replace("inferyard: ", "").replaceAll(/\s*\n\s*/g, "; "));
    throw new InferyardError("RUN_FAILED", `measuring ${name} failed: ${stderr === "" ? messageOf(error) : stderr}`, {
      cause: error,
    });
  }
}
