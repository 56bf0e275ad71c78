/** Flags of a task's command, made from the table of its options. */
import { type Command, Option } from "commander";
import type { Flag, OptionType, TaskOption, TaskOptions } from "../tasks/definition/task-option.ts";
import { parseList, positiveInteger, zeroOrMore } from "./session.ts";

/** Adds the flags of the options, in the order of the table. Options without a flag are skipped. */
export function addOptionFlags(command: Command, table: Readonly<Record<string, TaskOption>>): Command {
  for (const { type, flag, negatedFlag } of Object.values(table)) {
    if (flag !== undefined) command.addOption(parsed(flag, type));
    if (negatedFlag !== undefined) command.option(...negatedFlag);
  }
  return command;
}

function parsed([syntax, help]: Flag, type: OptionType): Option {
  const option = new Option(syntax, help);
  switch (type.kind) {
    case "choice":
      return option.choices(type.values);
    case "integer":
      return option.argParser(type.min === 1 ? positiveInteger : zeroOrMore);
    case "number":
      return option.argParser(Number);
    case "texts":
      return option.argParser(parseList);
    case "strings":
      return option.argParser((value, before?: string[]) => [...(before ?? []), value]);
    case "boolean":
    case "name":
    case "text":
    case "unchecked":
      return option;
    default:
      return type satisfies never;
  }
}

/**
 * The options that the flags of a call set, by the names of the table; a flag that was not given is left out. A flag "--no-x" of an option with
 * another name than x sets that option to true.
 */
export function optionsFromFlags<Options>(table: TaskOptions<Options>, flags: object): Partial<Options> {
  const values = new Map<string, unknown>(Object.entries(flags));
  const entries = Object.entries<TaskOption>(table).map(([name, { flag, negatedFlag }]) => {
    const syntax = (flag ?? negatedFlag)?.[0];
    if (syntax === undefined) return [name, undefined] as const;
    const option = new Option(syntax);
    const value = values.get(option.attributeName());
    return [name, option.negate && option.attributeName() !== name ? value === false : value] as const;
  });
  const given = entries.filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<Options>; // the parser of each flag gives values of its option's type
}
