/** One way to write a command that runs a task over texts: settings, texts, the run, and what is printed. */
import { type Command, Option } from "commander";
import type { TaskRun } from "../api/task-requests.ts";
import type { Runtime } from "../api/runtime.ts";
import { addLoadFlags, openSession, positiveInteger, withNotice } from "./session.ts";
import { type Terminal, writeAll, writeLine } from "./terminal.ts";
import { readTexts } from "./input/texts.ts";
import { formatMilliseconds, plural, withShortFloats } from "./output/units.ts";

/** Flags of every such command. */
export interface TaskFlags {
  readonly model?: string;
  readonly input?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly maxTokens?: number;
  readonly truncate?: "cut" | "error";
}

/** One call of a command. */
export interface TaskCall {
  readonly terminal: Terminal;
  /** The arguments. */
  readonly texts: readonly string[];
  readonly flags: TaskFlags;
  /** The task's own options, those that are undefined left out. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** What is printed of a result. */
export interface TaskOutput {
  /** For --json: one per input, fields named as Hugging Face's pipelines name them. */
  readonly results: readonly unknown[];
  /** For --json, beside the results. */
  readonly beside?: object;
  /** For people: after the model and the target, in the first line. */
  readonly title?: string;
  /** For people: below it. */
  readonly body: string;
  /** For people, on stderr: "3 entities in 2 texts". */
  readonly summary: string;
  /** Numbers of the texts that were cut. */
  readonly truncated?: readonly number[];
}

/** What every request of a task has. */
export interface TaskRequest {
  readonly model: string;
  readonly signal: AbortSignal;
}

/** Adds what every task takes: texts from a file, limits, and how the model is loaded. */
export function addTaskFlags(command: Command): Command {
  return addLoadFlags(addLimitFlags(command.addOption(inputOption())));
}

export function inputOption(): Option {
  return new Option("--input <file>", "texts from a file: .txt a line each, .jsonl strings or objects with `text`; - is stdin");
}

/** Limits of every text task. */
export function addLimitFlags(command: Command, truncations: readonly string[] = ["cut", "error"]): Command {
  return command
    .addOption(new Option("--max-tokens <number>", "longest text in tokens").argParser(positiveInteger))
    .addOption(new Option("--truncate <how>", "what to do with longer texts").choices(truncations))
    .addOption(new Option("--batch-tokens <number>", "padded tokens in one batch").argParser(positiveInteger));
}

/** Runs a task over the texts of a command and prints what comes of it. */
export async function runTask<Result extends TaskRun>(
  { terminal, texts, flags, options = {} }: TaskCall,
  work: (runtime: Runtime, texts: readonly string[], request: TaskRequest) => Promise<Result>,
  show: (result: Result, texts: readonly string[]) => TaskOutput,
): Promise<void> {
  const { input, json, quiet, maxTokens, truncate } = flags;
  const session = await openSession(terminal, { ...flags }, flags.model);
  try {
    const all = await readTexts({ texts, ...(input === undefined ? {} : { input }) }, terminal);
    const { variant, batchTokens } = session.settings;
    const asked = { variant, batchTokens, maxTokens, truncate, ...options };
    const set = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    const request = { ...set, model: session.model, signal: terminal.signal };
    const running = work(session.runtime, all, request);
    const result = await withNotice(terminal, session.notice(`loading and running ${session.model}`), running);
    const { model, target, decision, milliseconds } = result;
    const { results, beside = {}, title, body, summary, truncated = [] } = show(result, all);
    if (json === true) {
      await writeAll(
        terminal.stdout,
        `${JSON.stringify({ model, target, ...beside, results: withShortFloats(results), decision })}\n`,
      );
    } else {
      writeLine(terminal.stdout, [model, target, title].filter((part) => part !== undefined).join(" · "));
      if (body !== "") await writeAll(terminal.stdout, `${body}\n`);
    }
    if (quiet === true) return;
    noteTruncated(truncated, 0, terminal);
    if (json !== true) writeLine(terminal.stderr, `${summary} in ${formatMilliseconds(milliseconds)}`);
  } finally {
    await session.runtime.dispose();
  }
}

/** Says which texts were cut. `first`: the number of the first text of this part. */
export function noteTruncated(truncated: readonly number[], first: number, terminal: Terminal): void {
  if (truncated.length === 0) return;
  const shown = truncated.slice(0, 5).map((index) => first + index + 1);
  const places = `${shown.join(", ")}${truncated.length > shown.length ? ", …" : ""}`;
  writeLine(
    terminal.stderr,
    `${plural(truncated.length, "text")} longer than the model reads, cut (number ${places}); --truncate error refuses them`,
  );
}
