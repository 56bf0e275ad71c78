/** Flags of the commands that measure. */
import { type Command, Option } from "commander";
import { omitUndefined } from "../../contract/checked.ts";
import type { MeasuringOptions, RoundProgress } from "../../measuring/index.ts";
import { parsePositiveInteger } from "../option-flags.ts";
import { addBulkLoadFlags, type CommandSession, withNotice } from "../session.ts";
import type { Terminal } from "../terminal.ts";

/** Flags of commands that measure. */
export interface MeasuringFlags {
  readonly rounds?: number;
  readonly count?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Adds the flags shared by `bench` and `tune` to a command. */
export function addMeasuringFlags(command: Command): Command {
  return addBulkLoadFlags(command)
    .addOption(new Option("--rounds <number>", "times every target is measured (default: 3)").argParser(parsePositiveInteger))
    .addOption(
      new Option("--count <number>", "inputs of the call with many (default: 96; 4 generations)").argParser(parsePositiveInteger),
    )
    .addOption(new Option("--batch-tokens <number>", "padded tokens in one batch").argParser(parsePositiveInteger));
}

/** Runs a measurement and shows its progress in the terminal. Downloads the model first if it is not on this machine. */
export async function measureWithNotice<Result>(
  terminal: Terminal,
  { runtime, model, settings: { variant }, config, notice }: CommandSession,
  { rounds, count }: MeasuringFlags,
  measure: (options: MeasuringOptions) => Promise<Result>,
): Promise<Result> {
  const { signal } = terminal;
  const given = omitUndefined({ variant });
  await withNotice(terminal, notice(`reading ${model}`), runtime.manifest(model, { ...given, signal }));
  let now = "starting";
  const onRound = ({ name, round, rounds: all }: RoundProgress): void =>
    void (now = `measuring ${name}, round ${round} of ${all}`);
  const measuring = measure({ model, settings: config, onRound, signal, ...given, ...omitUndefined({ rounds, count }) });
  return withNotice(terminal, (elapsed) => `${now} ${elapsed}`, measuring);
}
