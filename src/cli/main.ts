/** The command line as a function from arguments to an exit code. */
import { Command, CommanderError } from "commander";
import { InferyardError, errorKinds, getMessage } from "../contract/errors.ts";
import { takeModelArgument } from "./input/model-argument.ts";
import { type CommandEntry, programHeading, commands } from "./command-table.ts";
import { spellFlags } from "./remedy-flags.ts";
import { FailedResult } from "./output/failed-result.ts";
import { type Terminal, writeLine } from "./terminal.ts";
import { version } from "../version.ts";

/** Runs one command. Returns the exit code: 0 success, 1 failure, 2 wrong usage, 130 interrupted by Ctrl-C. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const named = commands.filter(({ name }) => args.includes(name));
  let program: Command | undefined;
  try {
    program = await buildProgram(terminal, named.some(({ readsOthers }) => readsOthers) ? commands : named);
    await program.parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const command = program?.commands.find((each) => each.name() === named[0]?.name);
    return report(error, args, command, terminal);
  }
}

/**
 * The program with all commands. `defined`: commands that get their arguments, flags and actions. The others get only a name and a description, for the help
 * text and for suggestions.
 */
export async function buildProgram(terminal: Terminal, defined: readonly CommandEntry[]): Promise<Command> {
  const program = new Command("inferyard")
    .description("Runs a model on the engine of this machine that fits, proves that it did, and says why.")
    .version(version, "--version", "print the version")
    .option("--json", "print results as JSON")
    .option("--config <file>", "settings file, instead of ./inferyard.yaml")
    .option("--quiet", "print no notes on stderr")
    .option("--debug", "stack traces in errors")
    .addHelpCommand(new Command("help").argument("[command]").description("the options of a command").helpGroup(programHeading))
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .exitOverride()
    .showHelpAfterError("(inferyard <command> --help shows every option)")
    .configureOutput({ writeOut: (text) => terminal.stdout.write(text), writeErr: (text) => terminal.stderr.write(text) });
  const definitions = new Map(await Promise.all(defined.map(async ({ name, load }) => [name, await load()] as const)));
  for (const { name, heading, description } of commands) {
    const command = program.command(name).description(description).helpGroup(heading);
    definitions.get(name)?.(command, terminal);
  }
  for (const command of program.commands) {
    command.copyInheritedSettings(program);
    for (const option of program.options) if (option.long !== "--version") command.addOption(option);
  }
  // Global options may precede or follow the name of the command. Either way the program parses them, and the command reads them as its own.
  program.hook("preAction", async (_program, command) => {
    for (const [name, value] of Object.entries(program.opts())) command.setOptionValue(name, value);
    await takeModelArgument(command, terminal);
  });
  return program;
}

/** Prints the error and returns its exit code. */
function report(error: unknown, args: readonly string[], command: Command | undefined, terminal: Terminal): number {
  if (terminal.signal.aborted) return 130;
  const known = error instanceof InferyardError ? error : undefined;
  if (args.includes("--json") && known !== undefined && !(known instanceof FailedResult))
    writeLine(terminal.stdout, JSON.stringify({ error: known }));
  const spell = (text: string): string => (command === undefined ? text : spellFlags(text, command));
  const [headline, ...details] = (known?.message ?? `unexpected: ${getMessage(error)}`).split("\n");
  writeLine(terminal.stderr, `inferyard: ${headline}${known === undefined ? "" : ` [${known.code}]`}`);
  for (const detail of details) writeLine(terminal.stderr, spell(detail));
  if (known?.remedy !== undefined) writeLine(terminal.stderr, `  ${spell(known.remedy)}`);
  if (known === undefined)
    writeLine(terminal.stderr, "  this is a bug in inferyard: run it again with --debug, and report the output");
  if (args.includes("--debug") && error instanceof Error) writeLine(terminal.stderr, stackOf(error));
  return known === undefined ? 1 : errorKinds[known.code].exitCode;
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : "";
  return `${error.stack ?? error.message}${cause}`;
}
