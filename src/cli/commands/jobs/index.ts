import { type Command, Option } from "commander";
import { parsePositiveInteger } from "../../option-flags.ts";
import type { Terminal } from "../../terminal.ts";
import type { ControlFlags } from "./control.ts";
import type { ResumeFlags, RunFlags } from "./run.ts";

/** Defines the command `jobs` with its subcommands, whose modules are imported when they run. */
export function defineJobs(command: Command, terminal: Terminal): void {
  const add = (name: string, description: string): Command => command.command(name).description(description);
  defineRun(add("run", "run a task over the rows of a file; the same command again goes on where it stopped"), terminal);
  add("resume", "go on with a job that was paused, has failed, or whose process was killed")
    .argument("<id>", "id of the job")
    .addOption(workersOption())
    .addOption(redisOption())
    .action(async (id: string, flags: ResumeFlags) => (await import("./run.ts")).resumeCommand(id, flags, terminal));
  add("status", "how far a job is; without an id all jobs, the newest first")
    .argument("[id]", "id of a job")
    .action(async (id: string | undefined, flags: ControlFlags) =>
      (await import("./control.ts")).showStatus(id, flags, terminal),
    );
  add("pause", "let the process that runs a job record what is done, and end")
    .argument("<id>", "id of the job")
    .action(async (id: string, flags: ControlFlags) => (await import("./control.ts")).endRun(id, "pause", flags, terminal));
  add("cancel", "end a job for good; its results so far stay in OUTPUT.partial")
    .argument("<id>", "id of the job")
    .addOption(redisOption())
    .action(async (id: string, flags: ControlFlags) => (await import("./control.ts")).endRun(id, "cancel", flags, terminal));
  add("failed", "the rows that were set aside, with the reasons; --json prints them as they are in their file")
    .argument("<id>", "id of the job")
    .action(async (id: string, flags: ControlFlags) => (await import("./control.ts")).showFailed(id, flags, terminal));
  add("remove", "forget a job that nobody runs; its output stays")
    .argument("<id>", "id of the job")
    .action(async (id: string, flags: ControlFlags) => (await import("./control.ts")).removeJob(id, flags, terminal));
  add("work", "work on the jobs of this machine, or of a Redis or Valkey server, until a signal")
    .addOption(redisOption())
    .action(async (flags: { readonly redis?: string }) => (await import("./work.ts")).workCommand(flags, terminal));
}

const defaultRetries = 2;

function defineRun(command: Command, terminal: Terminal): void {
  command
    .argument("<task>", "embed, rerank or generate")
    .requiredOption("--input <file>", "rows as .jsonl, .parquet or .arrow, with the fields input and, if wanted, id")
    .requiredOption("--output <file>", "results in the order of the rows, as .jsonl, .parquet or .arrow")
    .option("--failed <file>", "rows without a result, with the reason, as JSONL. Default: OUTPUT.failed.jsonl")
    .option("--model <reference>", 'model: "builtin", a path, hf:owner/name, or a name in the store')
    .option("--variant <name>", "variant of the model")
    .option("--target <target>", "target that the model runs on, and no other")
    .option("--options <json>", "options of the task, as the library has them: '{\"dimensions\":128}'")
    .option("--id <id>", "id of the job. Default: made from all that it is asked to do")
    .addOption(workersOption())
    .addOption(
      new Option("--retries <number>", "attempts of a row after the first one").argParser(parseCount).default(defaultRetries),
    )
    .addOption(new Option("--chunk-rows <number>", "rows that a worker takes at once, at most").argParser(parsePositiveInteger))
    .addOption(redisOption())
    .action(async (task: string, flags: RunFlags) => (await import("./run.ts")).runCommand(task, flags, terminal));
}

function workersOption(): Option {
  return new Option(
    "--workers <number>",
    "worker processes that this command starts; 0: none, others do the work. Default: one per core, and one to generate",
  ).argParser(parseCount);
}

function redisOption(): Option {
  return new Option(
    "--redis <url>",
    "Redis or Valkey server with the queue: redis://host:6379; its password may come from REDIS_PASSWORD. Default: the data folder of this machine",
  );
}

function parseCount(text: string): number {
  return text === "0" ? 0 : parsePositiveInteger(text);
}
