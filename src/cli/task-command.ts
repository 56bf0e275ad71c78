/** The frame of commands that run a task over texts: settings, texts, run, output. */
import { type Command, Option } from "commander";
import { omitUndefined } from "../contract/checked.ts";
import type { TaskRun } from "../api/task-requests.ts";
import type { Runtime } from "../api/runtime.ts";
import type { Options } from "../runtime/options/option.ts";
import { addOptionFlags } from "./option-flags.ts";
import { type CommandSession, addBulkLoadFlags, withNotice, withSession } from "./session.ts";
import { type Terminal, writeAll, writeLine } from "./terminal.ts";
import { readTexts } from "./input/texts.ts";
import { formatMilliseconds, plural, withShortFloats } from "./output/units.ts";

/** Flags of every task command. */
export interface TaskFlags {
  readonly model?: string;
  readonly input?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** One call of a task command. */
export interface TaskCall<Options> {
  readonly terminal: Terminal;
  /** Texts given as arguments. */
  readonly texts: readonly string[];
  readonly flags: TaskFlags;
  /** Options of the task. */
  readonly options: Options;
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

/** Runs a task over the texts of a command and prints its result. */
export async function runTaskCommand<Options extends object, Result extends TaskRun>(
  { terminal, texts, flags, options }: TaskCall<Options>,
  work: (runtime: Runtime, texts: readonly string[], request: Options & TaskCommandRequest) => Promise<Result>,
  show: (result: Result, texts: readonly string[]) => TaskOutput,
): Promise<void> {
  const { input, json, quiet } = flags;
  await withSession(terminal, flags, flags.model, async (session) => {
    const all = await readTexts({ texts, ...omitUndefined({ input }) }, terminal);
    const request = { ...options, ...configured(session), model: session.model, signal: terminal.signal };
    const running = work(session.runtime, all, request);
    const result = await withNotice(terminal, session.notice(`loading and running ${session.model}`), running);
    const { model, target, decision, milliseconds } = result;
    const { results, extraFields = {}, title, body, summary, truncated = [] } = show(result, all);
    if (json === true) {
      await writeAll(
        terminal.stdout,
        `${JSON.stringify({ model, target, ...extraFields, results: withShortFloats(results), decision })}\n`,
      );
    } else {
      writeLine(terminal.stdout, [model, target, title].filter((part) => part !== undefined).join(" · "));
      if (body !== "") await writeAll(terminal.stdout, `${body}\n`);
    }
    if (quiet === true) return;
    noteTruncated(truncated, 0, terminal);
    if (json !== true) writeLine(terminal.stderr, `${summary} in ${formatMilliseconds(milliseconds)}`);
  });
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
