/**
 * Options as data. A row states the type, the default, the description, the flag and the request field of one option; the checks of the library, the
 * schema of inferyard.yaml, the readings of flags and of the environment, request fields, TypeScript types and documentation are made from it.
 */
import { type InferyardError, invalidInput } from "../../contract/errors.ts";
import { parseAdapter, checkAdapters } from "./adapters.ts";

/** Values that an option may have. */
export type OptionType =
  | { readonly kind: "boolean" }
  /** `read`: converts other spellings of a value. Default: there are none. */
  | { readonly kind: "choice"; readonly values: readonly string[]; readonly read?: (text: unknown) => unknown }
  /** Both bounds are included. `word`: a text that is allowed, too. `unit`: for the default in the help text. */
  | {
      readonly kind: "integer";
      readonly min: number;
      readonly max?: number;
      readonly word?: string;
      readonly unit?: "bytes";
    }
  /** The bounds, both included, hold for request fields; the task checks the value itself. Default: unbounded. */
  | { readonly kind: "number"; readonly min?: number; readonly max?: number }
  /** A short name, for example of a prompt. */
  | { readonly kind: "name" }
  | { readonly kind: "text" }
  /** A text that is not empty. */
  | { readonly kind: "path" }
  /** A list of texts, which the owner of the option checks; as text separated by commas. */
  | { readonly kind: "list" }
  /** A list of at least one text, none of them empty; as text separated by commas. */
  | { readonly kind: "texts" }
  /** A list of texts of any characters: the flag takes one, and may be given several times. */
  | { readonly kind: "strings" }
  /** A list of integers; as text separated by commas. */
  | { readonly kind: "integers" }
  /** Milliseconds, or a text such as "30s". */
  | { readonly kind: "duration" }
  /** Bytes, or a text such as "512MiB". */
  | { readonly kind: "size" }
  /** Targets as a list, or as text separated by commas. */
  | { readonly kind: "targets" }
  /** A list of LoRA adapters; as text "PATH" or "PATH=SCALE", separated by commas. */
  | { readonly kind: "adapters" }
  /** A value that the owner of the option checks. */
  | { readonly kind: "unchecked" };

/** A flag of the command line: its syntax, "--top-k <number>", and its line in the help text. */
export type Flag = readonly [syntax: string, help: string];

/** One option. */
export interface Option {
  readonly type: OptionType;
  /** Type in TypeScript. Default: that of the values that `type` has. */
  readonly typescript?: string;
  /** Default: false. */
  readonly isRequired?: boolean;
  /** What changes if it is set. Markdown on one line; links are relative to docs/reference/configuration.md. Default: `field`. */
  readonly description?: string;
  /** Value if it is not set, as a user would write it. Default: it depends on the machine, the model or the call. */
  readonly default?: string | number | boolean | readonly (string | number)[];
  /** Default: no command has a flag for it. */
  readonly flag?: Flag;
  /** Flag that sets a boolean to false. Default: none. */
  readonly negatedFlag?: Flag;
  /** Description of the request field, whose name is the option's in snake case. Default: requests have no field for it. */
  readonly field?: string;
}

/** An option with a description. */
export type DescribedOption = Option & { readonly description: string };

/** Options by name. */
export type Options = Readonly<Record<string, Option>>;

/** All options of an interface by name. */
export type OptionTable<Values> = { readonly [Name in keyof Required<Values>]: Option };

/** Type of options that are true or false. */
export const boolean: OptionType = { kind: "boolean" };
/** Type of integers above 0. */
export const positiveInteger: OptionType = { kind: "integer", min: 1 };
/** Type of integers from 0. */
export const zeroOrMore: OptionType = { kind: "integer", min: 0 };
/** Type of amounts of bytes above 0. */
export const bytes: OptionType = { kind: "integer", min: 1, unit: "bytes" };
/** Type of numbers whose bounds the task checks. */
export const number: OptionType = { kind: "number" };
/** Type of short names. */
export const name: OptionType = { kind: "name" };
/** Type of texts. */
export const textOption: OptionType = { kind: "text" };
/** Type of lists of texts. */
export const listOption: OptionType = { kind: "list" };
/** Type of lists of texts that may contain commas. */
export const strings: OptionType = { kind: "strings" };
/** Type of durations. */
export const duration: OptionType = { kind: "duration" };
/** Type of amounts of memory. */
export const size: OptionType = { kind: "size" };
/** Type of values that the owner of the option checks. */
export const unchecked: OptionType = { kind: "unchecked" };
/** Type of options with a fixed set of values. */
export const choice = (values: readonly string[]): OptionType => ({ kind: "choice", values });

/** The defaults of the options that have one, by name. */
export function getDefaults(table: Options): object {
  const entries = Object.entries(table).flatMap(([option, row]) => (row.default === undefined ? [] : [[option, row.default]]));
  return Object.fromEntries(entries);
}

/** The values of an integer in words: "a whole number from 0". */
export function describeRange({ min, max }: { readonly min: number; readonly max?: number }): string {
  const lowest = min === 1 ? "above 0" : `from ${min}`;
  return `a whole number ${lowest}${max === undefined ? "" : ` to ${max}`}`;
}

/** Whether a value is an integer within the bounds. */
export function isInOptionRange(
  value: unknown,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): boolean {
  return Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
}

/**
 * Throws INPUT_INVALID for the first option, in the order of the table, whose value is not of its type. Undefined values are skipped, and so are
 * types that their owner checks.
 */
export function checkOptions(table: Options, values: object): void {
  const given = new Map<string, unknown>(Object.entries(values));
  for (const [option, { type }] of Object.entries(table)) checkOption(option, given.get(option) as OptionValue, type);
}

/** A value that the checks compare; callers without types may give any other. */
type OptionValue = boolean | number | string | readonly string[] | undefined;

/** Throws INPUT_INVALID if the value is set and not of the type. */
export function checkOption(option: string, value: OptionValue, type: OptionType): void {
  if (value === undefined) return;
  if (type.kind === "adapters") checkAdapters(value);
  else if (type.kind === "boolean") refuseUnlisted<OptionValue>(option, value, [true, false]);
  else if (type.kind === "choice") refuseUnlisted<OptionValue>(option, value, type.values);
  else if (type.kind === "integer" && value !== type.word && !isInOptionRange(value, type))
    throw invalid(option, `${String(value)}, and must be ${describeRange(type)}`);
  else if (type.kind === "texts" && !isTexts(value))
    throw invalid(option, `${JSON.stringify(value)}, and must be a list of texts`);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string" && each !== "");
}

function invalid(option: string, problem: string): InferyardError {
  return invalidInput(`${option} is ${problem}`, `correct ${option}, or leave it out`);
}

/** INPUT_INVALID for two options that exclude each other. The error is returned, not thrown. */
export function optionConflict(message: string): InferyardError {
  return invalidInput(message, "leave one of the two out");
}

/** Throws INPUT_INVALID if `value` is set and is not in `allowed`. */
export function refuseUnlisted<Value>(option: string, value: Value | undefined, allowed: readonly Value[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw invalidInput(`${option} is ${JSON.stringify(value)}`, `choose one of ${allowed.join(", ")}`);
}

/** The parts of a text that are separated by commas. */
export function splitList(text: string): string[] {
  return text.split(",").map((part) => part.trim());
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/** The value that a text of the environment stands for; the text itself if it is no value of the type. */
export function readOptionText(type: OptionType, text: string): unknown {
  switch (type.kind) {
    case "boolean":
      return truths.get(text) ?? text;
    case "integer":
    case "number":
    case "duration":
    case "size":
      return Number.isNaN(Number(text)) ? text : Number(text);
    case "list":
    case "texts":
    case "strings":
      return splitList(text);
    case "integers": {
      const values = splitList(text).map(Number);
      return values.some(Number.isNaN) ? text : values;
    }
    case "adapters":
      return splitList(text).map(parseAdapter);
    case "choice":
    case "name":
    case "path":
    case "targets":
    case "text":
    case "unchecked":
      return text;
    default:
      return type satisfies never;
  }
}
