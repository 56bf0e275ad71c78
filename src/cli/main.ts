/** The command line as a function from arguments to an exit code. */
import { Command, CommanderError } from "commander";
import { InferyardError, errorKinds, messageOf } from "../errors.ts";
import { commands } from "./command-table.ts";
import { type Terminal, writeLine } from "./terminal.ts";
import { version } from "../version.ts";

/** Runs one command. Returns the exit code: 0 success, 1 failure, 2 wrong usage, 130 interrupted by Ctrl-C. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = buildProgram(terminal);
  try {
    await program.parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return report(error, args, terminal);
  }
}

/** The program with all commands and options. */
export function buildProgram(terminal: Terminal): Command {
  const program = new Command("inferyard")
    .description("Runs a model on the engine of this machine that fits, proves that it did, and says why.")
    .version(version, "--version", "print the version")
    .option("--json", "print results as JSON")
    .option("--config <file>", "settings file, instead of ./inferyard.yaml")
    .option("--quiet", "print no notes on stderr")
    .option("--debug", "stack traces in errors")
    .exitOverride()
    .showHelpAfterError("(inferyard <command> --help shows every option)")
    .configureOutput({ writeOut: (text) => terminal.stdout.write(text), writeErr: (text) => terminal.stderr.write(text) });
  for (const add of commands) add(program, terminal);
  for (const command of program.commands) {
    command.copyInheritedSettings(program);
    for (const option of program.options) if (option.long !== "--version") command.addOption(option);
  }
  // Global options may precede or follow the name of the command. Either way the program parses them, and the command reads them as its own.
  program.hook("preAction", (_program, command) => {
    for (const [name, value] of Object.entries(program.opts())) command.setOptionValue(name, value);
  });
  return program;
}

/** Prints the error and returns its exit code. */
function report(error: unknown, args: readonly string[], terminal: Terminal): number {
  if (terminal.signal.aborted) return 130;
  const known = error instanceof InferyardError ? error : undefined;
  if (args.includes("--json") && known !== undefined) writeLine(terminal.stdout, JSON.stringify({ error: known }));
  const [headline, ...details] = (known?.message ?? `unexpected: ${messageOf(error)}`).split("\n");
  writeLine(terminal.stderr, `inferyard: ${headline}${known === undefined ? "" : ` [${known.code}]`}`);
  for (const detail of details) writeLine(terminal.stderr, detail);
  if (known?.remedy !== undefined) writeLine(terminal.stderr, `  ${known.remedy}`);
  if (known === undefined)
    writeLine(terminal.stderr, "  this is a bug in inferyard: run it again with --debug, and report the output");
  if (args.includes("--debug") && error instanceof Error) writeLine(terminal.stderr, stackOf(error));
  return known === undefined ? 1 : errorKinds[known.code].exitCode;
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : "";
  return `${error.stack ?? error.message}${cause}`;
}
