import { type Command, Argument } from "commander";
import { type Terminal, writeLine } from "../../terminal.ts";

type Shell = "bash" | "zsh" | "fish";

/** Defines the command `completions`. */
export function defineCompletions(command: Command, terminal: Terminal): void {
  command
    .addArgument(new Argument("<shell>", "which shell").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      "\nbash: source <(inferyard completions bash)\nzsh:  inferyard completions zsh > ~/.zfunc/_inferyard\nfish: inferyard completions fish > ~/.config/fish/completions/inferyard.fish",
    )
    .action((shell: Shell, { json }: { readonly json?: boolean }) => {
      const script = scripts[shell](describe(command.parent?.commands ?? []));
      writeLine(terminal.stdout, json === true ? JSON.stringify({ shell, script }) : script);
    });
}

interface CommandWords {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly { readonly long: string; readonly description: string; readonly choices: readonly string[] }[];
}

function describe(commands: readonly Command[]): CommandWords[] {
  return commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    flags: command.options.map(({ long, description, argChoices }) => ({
      long: long ?? "",
      description,
      choices: argChoices ?? [],
    })),
  }));
}

const scripts: Readonly<Record<Shell, (commands: readonly CommandWords[]) => string>> = { bash, zsh, fish };

function bash(commands: readonly CommandWords[]): string {
  const choices = new Map(
    commands.flatMap(({ flags }) =>
      flags.filter(({ choices }) => choices.length > 0).map(({ long, choices }) => [long, choices] as const),
    ),
  );
  return [
    "_inferyard() {",
    "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}",
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$current"))`,
    "    return",
    "  fi",
    '  case "$previous" in',
    ...[...choices].map(
      ([long, words]) => `    ${long}) COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$current")); return ;;`,
    ),
    "  esac",
    '  case "$current" in',
    "    -*)",
    '      case "${COMP_WORDS[1]}" in',
    ...commands.map(
      ({ name, flags }) =>
        `        ${name}) COMPREPLY=($(compgen -W "${flags.map(({ long }) => long).join(" ")}" -- "$current")) ;;`,
    ),
    "      esac ;;",
    '    *) COMPREPLY=($(compgen -f -- "$current")) ;;',
    "  esac",
    "}",
    "complete -o filenames -F _inferyard inferyard",
  ].join("\n");
}

function zsh(commands: readonly CommandWords[]): string {
  const getFlags = ({ flags }: CommandWords): string[] =>
    flags.map(
      ({ long, description, choices }) =>
        `'${long}[${quoted(description)}]${choices.length > 0 ? `:value:(${choices.join(" ")})` : ""}'`,
    );
  return [
    "#compdef inferyard",
    "_inferyard() {",
    "  local -a commands=(",
    ...commands.map(({ name, description }) => `    '${name}:${quoted(description)}'`),
    "  )",
    "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
    "  case $words[2] in",
    ...commands.map((command) => `    ${command.name}) _arguments ${[...getFlags(command), "'*:file:_files'"].join(" ")} ;;`),
    "  esac",
    "}",
    '_inferyard "$@"',
  ].join("\n");
}

function fish(commands: readonly CommandWords[]): string {
  return commands
    .flatMap(({ name, description, flags }) => [
      `complete -c inferyard -n __fish_use_subcommand -a ${name} -d '${quoted(description)}'`,
      ...flags.map(
        ({ long, description: words, choices }) =>
          `complete -c inferyard -n '__fish_seen_subcommand_from ${name}' -l ${long.slice(2)} -d '${quoted(words)}'${choices.length > 0 ? ` -xa '${choices.join(" ")}'` : ""}`,
      ),
    ])
    .join("\n");
}

/** Safe inside single quotes and zsh's brackets. */
function quoted(text: string): string {
  return text.replaceAll("'", "").replaceAll(/[[\]:]/g, " ");
}
