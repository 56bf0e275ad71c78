/** The frame of commands that run a task over texts: settings, texts, run, output. */
import { type Command, Option } from "commander";
import { omitUndefined } from "../contract/checked.ts";
import type { TaskRun } from "../api/task-requests.ts";
import type { Runtime } from "../api/runtime.ts";
import type { OptionTable, Options } from "../runtime/options/option.ts";
import { addOptionFlags, optionsFromFlags } from "./option-flags.ts";
import { type CommandSession, type GlobalFlags, addBulkLoadFlags, withNotice, withSession } from "./session.ts";
import { type Terminal, writeAll, writeLine } from "./terminal.ts";
import { readTexts } from "./input/texts.ts";
import { formatMilliseconds, plural, withShortFloats } from "./output/units.ts";

/** Flags of every task command. */
export interface TaskFlags extends GlobalFlags {
  readonly model?: string;
  readonly input?: string;
}

/** How the result of a task command is printed: as JSON and as text for people. */
export interface TaskOutput {
  /** Results for --json: one per input, with the field names of Hugging Face pipelines. */
  readonly results: readonly unknown[];
  /** Further fields for --json, in addition to the results. */
  readonly extraFields?: object;
  /** Text for people, after the model and the target in the first line. */
  readonly title?: string;
  /** Lines for people, below the first line. */
  readonly body: string;
  /** Summary for people, on stderr: "3 entities in 2 texts". */
  readonly summary: string;
  /** Indices of the texts that were truncated. */
  readonly truncated?: readonly number[];
}

/** Fields of the request of every task. */
export interface TaskCommandRequest {
  readonly model: string;
  readonly variant?: string;
  readonly batchTokens?: number;
  readonly signal: AbortSignal;
}

/** Adds the flags of a task command: the task's options, texts from a file, and options of loading. */
export function addTaskFlags(command: Command, options: Options): Command {
  return addBulkLoadFlags(addOptionFlags(command, options).addOption(inputOption()));
}

/** The flag for texts from a file. */
export function inputOption(): Option {
  return new Option("--input <file>", "texts from a file: .txt a line each, .jsonl strings or objects with `text`; - is stdin");
}

/** What a task command does with its texts. */
export interface TaskWork<Values, Result extends TaskRun> {
  readonly run: (runtime: Runtime, texts: readonly string[], request: Partial<Values> & TaskCommandRequest) => Promise<Result>;
  readonly show: (result: Result, texts: readonly string[]) => TaskOutput;
}

/** A task command. */
interface TaskCommand<Values, Result extends TaskRun> {
  /** Reads the flags, of which some are the command's own, before a model is loaded. */
  prepare(
    flags: TaskFlags,
    texts: readonly string[],
    options: Partial<Values>,
  ): TaskWork<Values, Result> | Promise<TaskWork<Values, Result>>;
}

/** What a task command does with other input than texts. */
export interface OtherInput {
  /** Options of the other task, for their flags. */
  readonly table: Options;
  /** Returns true if it ran, and false if the flags are for texts. */
  run(texts: readonly string[], flags: TaskFlags): Promise<boolean>;
}

/** Adds the flags of a task command, and its action, which runs the task and prints its result. */
export function defineTask<Values, Result extends TaskRun>(
  command: Command,
  terminal: Terminal,
  table: OptionTable<Values>,
  prepare: TaskCommand<Values, Result>["prepare"],
  instead?: OtherInput,
): void {
  addTaskFlags(command, { ...instead?.table, ...table }).action(async (texts: string[], flags: TaskFlags) => {
    if ((await instead?.run(texts, flags)) === true) return;
    const options = optionsFromFlags<Values>(table, flags);
    const { run, show } = await prepare(flags, texts, options);
    await withSession(terminal, flags, flags.model, async (session) => {
      const all = await readTexts({ texts, ...omitUndefined({ input: flags.input }) }, terminal);
      const request = { ...options, ...configured(session), model: session.model, signal: terminal.signal };
      const running = run(session.runtime, all, request);
      const result = await withNotice(terminal, session.notice(`loading and running ${session.model}`), running);
      const { model, target, decision, milliseconds } = result;
      const { results, extraFields = {}, title, body, summary, truncated } = show(result, all);
      const headline = [model, target, title].filter((part) => part !== undefined).join(" · ");
      await printResult(flags, terminal, {
        json: () => JSON.stringify({ model, target, ...extraFields, results: withShortFloats(results), decision }),
        text: () => [headline, ...(body === "" ? [] : [body])].join("\n"),
        summary: `${summary} in ${formatMilliseconds(milliseconds)}`,
        truncated,
      });
    });
  });
}

/** A result as JSON, as text for people, and in a line for them on stderr. */
interface PrintedResult {
  readonly json: () => string;
  readonly text: () => string;
  readonly summary: string;
  /** Indices of the texts that were truncated. Default: none. */
  readonly truncated?: readonly number[] | undefined;
}

/** Prints a result as the flags want it, and notes which texts were truncated. */
export async function printResult({ json, quiet }: GlobalFlags, terminal: Terminal, result: PrintedResult): Promise<void> {
  await writeAll(terminal.stdout, `${json === true ? result.json() : result.text()}\n`);
  if (quiet === true) return;
  noteTruncated(result.truncated ?? [], 0, terminal);
  if (json !== true) writeLine(terminal.stderr, result.summary);
}

/** The settings that are options of a task's call. */
export function configured({
  settings: { variant, batchTokens },
}: CommandSession): Pick<TaskCommandRequest, "variant" | "batchTokens"> {
  return { ...omitUndefined({ variant, batchTokens }) };
}

/** Notes which texts were truncated. `first`: index of the first text of this part. */
export function noteTruncated(truncated: readonly number[], first: number, terminal: Terminal): void {
  if (truncated.length === 0) return;
  const shown = truncated.slice(0, 5).map((index) => first + index + 1);
  const places = `${shown.join(", ")}${truncated.length > shown.length ? ", …" : ""}`;
  writeLine(
    terminal.stderr,
    `${plural(truncated.length, "text")} longer than the model reads, cut (number ${places}); --truncate error refuses them`,
  );
}
