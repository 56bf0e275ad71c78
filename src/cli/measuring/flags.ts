/** Flags of the commands that measure. */
import { type Command, Option } from "commander";
import { InferyardError } from "../../contract/errors.ts";
import { addBulkLoadFlags, openSession, positiveInteger } from "../session.ts";
import { type Terminal, writeLine } from "../terminal.ts";
import { type MeasuringTask, measureRound } from "./measure-round.ts";

/** Flags of commands that measure. */
export interface MeasuringFlags {
  readonly rounds: number;
  readonly count: number;
  readonly json?: boolean;
  readonly here?: string;
}

/** Enough texts that replicas share the work (8,192 tokens). */
const defaultCount = 96;

/** Adds the flags. `rounds`: the default number of rounds. */
export function addMeasuringFlags(command: Command, rounds: number): Command {
  return addBulkLoadFlags(command)
    .addOption(new Option("--rounds <number>", "times every target is measured").argParser(positiveInteger).default(rounds))
    .addOption(new Option("--count <number>", "inputs of the call with many").argParser(positiveInteger).default(defaultCount))
    .addOption(new Option("--batch-tokens <number>", "padded tokens in one batch").argParser(positiveInteger))
    .addOption(new Option("--here <task>", "measure this once, in this process").hideHelp());
}

/** Runs one round and prints it, if this is the child process of a measuring command; false in the parent. */
export async function runAsMeasuringChild(
  terminal: Terminal,
  flags: MeasuringFlags,
  model: string | undefined,
): Promise<boolean> {
  if (flags.here === undefined) return false;
  const session = await openSession(terminal, { ...flags }, model);
  try {
    writeLine(terminal.stdout, JSON.stringify(await measureRound(session, taskFrom(flags.here))));
  } finally {
    await session.runtime.dispose();
  }
  return true;
}

function taskFrom(text: string): MeasuringTask {
  try {
    const { target, count } = JSON.parse(text) as Partial<MeasuringTask>;
    if (typeof target === "string" && typeof count === "number") return { target, count };
  } catch {
    // The error is thrown below.
  }
  throw new InferyardError("INPUT_INVALID", `--here ${text} is not a task; the flag is for inferyard itself`);
}
