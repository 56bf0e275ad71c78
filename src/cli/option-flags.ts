/** Flags made from tables of options, and parsers of the values of flags. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { LoraAdapter } from "../contract/backend.ts";
import { parseAdapter } from "../runtime/options/adapters.ts";
import {
  type Flag,
  type Option as TableOption,
  type OptionTable,
  type OptionType,
  type Options,
  describeRange,
  isInOptionRange,
  splitList,
} from "../runtime/options/option.ts";

/** Parses values separated by commas; a flag given twice accumulates. */
export const parseListFlag = (text: string, before: string[] = []): string[] => [...before, ...splitList(text)];

/** Parses an integer above 0. */
export const parsePositiveInteger: (text: string) => number = integerParser({ min: 1 });

/** Parses an integer from 0. */
export const parseZeroOrMore: (text: string) => number = integerParser({ min: 0 });

function integerParser(range: { readonly min: number; readonly max?: number }): (text: string) => number {
  return (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!isInOptionRange(value, range)) throw new InvalidArgumentError(`It must be ${describeRange(range)}.`);
    return value;
  };
}

/** Parses a number above 0. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

/** Adds the flags of the options, in the order of the table. Options without a flag are skipped. */
export function addOptionFlags(command: Command, table: Options): Command {
  for (const { type, flag, negatedFlag } of Object.values(table)) {
    if (flag !== undefined) command.addOption(createFlag(flag, type));
    if (negatedFlag !== undefined) command.option(...negatedFlag);
  }
  return command;
}

function createFlag([syntax, help]: Flag, type: OptionType): Option {
  const option = new Option(syntax, help);
  switch (type.kind) {
    case "boolean":
      return !option.required
        ? option
        : option.choices(["true", "false"]).argParser((text) => parseChoice(text, ["true", "false"]) === "true");
    case "choice":
      return option.choices(type.values).argParser((text) => parseChoice(type.read?.(text) ?? text, type.values));
    case "integer": {
      const parse = integerParser(type);
      return option.argParser((text) => (text === type.word ? text : parse(text)));
    }
    case "number":
      return option.argParser(Number);
    case "list":
    case "texts":
    case "targets":
      return option.argParser(parseListFlag);
    case "strings":
      return option.argParser((value, before?: string[]) => [...(before ?? []), value]);
    case "adapters":
      return option.argParser((text, before?: LoraAdapter[]) => [...(before ?? []), ...splitList(text).map(parseAdapter)]);
    case "integers":
    case "duration":
    case "size":
    case "name":
    case "text":
    case "path":
    case "unchecked":
      return option;
    default:
      return type satisfies never;
  }
}

function parseChoice(value: unknown, values: readonly string[]): string {
  const found = values.find((each) => each === value);
  if (found === undefined) throw new InvalidArgumentError(`Allowed choices are ${values.join(", ")}.`);
  return found;
}

/**
 * The options that the flags of a call set, by the names of the table; a flag that was not given is left out. A flag "--no-x" of an option with
 * another name than x sets that option to true.
 */
export function optionsFromFlags<Values>(table: OptionTable<Values>, flags: object): Partial<Values> {
  const values = new Map<string, unknown>(Object.entries(flags));
  const entries = Object.entries<TableOption>(table).map(([name, { flag, negatedFlag }]) => {
    const syntax = (flag ?? negatedFlag)?.[0];
    if (syntax === undefined) return [name, undefined] as const;
    const option = new Option(syntax);
    const value = values.get(option.attributeName());
    return [name, option.negate && option.attributeName() !== name ? value === false : value] as const;
  });
  const given = entries.filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<Values>; // the parser of each flag gives values of its option's type
}
