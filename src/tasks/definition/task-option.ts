/**
 * Options of tasks as data. The library checks names and values by it; the command line makes flags of it, and the server request fields. One
 * table per task, in `options.ts` of its folder.
 */
import { InferyardError } from "../../contract/errors.ts";
import { refuseNonPositive, refuseUnlisted } from "../../runtime/options/options.ts";

/** Values that an option may have. "unchecked" values are checked by the task itself. */
export type OptionType =
  | { readonly kind: "boolean" }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  | { readonly kind: "integer"; readonly min: 0 | 1 }
  /** The bounds, both included, hold for request fields; the task checks the value itself. Default: unbounded. */
  | { readonly kind: "number"; readonly min?: number; readonly max?: number }
  /** A short name, for example of a prompt. */
  | { readonly kind: "name" }
  | { readonly kind: "text" }
  | { readonly kind: "texts" }
  /** As "texts", of any characters: the flag takes one, and may be given several times. */
  | { readonly kind: "strings" }
  | { readonly kind: "unchecked" };

/** A flag of the command line: its syntax, "--top-k <number>", and its line in the help text. */
export type Flag = readonly [syntax: string, help: string];

/** One option of a task. */
export interface TaskOption {
  readonly type: OptionType;
  /** Default: the command has no flag for it. */
  readonly flag?: Flag;
  /** Flag that sets a boolean to false. Default: none. */
  readonly negatedFlag?: Flag;
  /** Description of the request field, whose name is the option's in snake case. Default: requests have no field for it. */
  readonly field?: string;
}

/** All options of a task by name. */
export type TaskOptions<Options> = { readonly [Name in keyof Required<Options>]: TaskOption };

/** Type of options that are true or false. */
export const boolean: OptionType = { kind: "boolean" };
/** Type of integers above 0. */
export const positiveInteger: OptionType = { kind: "integer", min: 1 };
/** Type of integers from 0. */
export const zeroOrMore: OptionType = { kind: "integer", min: 0 };
/** Type of numbers whose bounds the task checks. */
export const number: OptionType = { kind: "number" };
/** Type of short names. */
export const name: OptionType = { kind: "name" };
/** Type of texts. */
export const text: OptionType = { kind: "text" };
/** Type of lists of texts. */
export const texts: OptionType = { kind: "texts" };
/** Type of lists of texts that may contain commas. */
export const strings: OptionType = { kind: "strings" };
/** Type of values that the task checks itself. */
export const unchecked: OptionType = { kind: "unchecked" };
/** Type of options with a fixed set of values. */
export const choice = (values: readonly string[]): OptionType => ({ kind: "choice", values });

/** Throws INPUT_INVALID for the first option, in the order of the table, whose value is not of its type. Undefined values are skipped. */
export function checkOptions<Options extends object>(table: TaskOptions<Options>, options: Options): void {
  const values = new Map<string, unknown>(Object.entries(options));
  for (const [option, { type }] of Object.entries<TaskOption>(table)) checkValue(option, values.get(option) as OptionValue, type);
}

/** A value that the checks compare; callers without types may give any other. */
type OptionValue = boolean | number | string | undefined;

function checkValue(option: string, value: OptionValue, type: OptionType): void {
  if (value === undefined) return;
  if (type.kind === "boolean") refuseUnlisted<OptionValue>(option, value, [true, false]);
  else if (type.kind === "choice") refuseUnlisted<OptionValue>(option, value, type.values);
  else if (type.kind === "integer" && type.min === 1) refuseNonPositive(option, value as number); // which checks the type
  else if (type.kind === "integer") refuseNegative(option, value);
}

function refuseNegative(option: string, value: OptionValue): void {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return;
  throw new InferyardError("INPUT_INVALID", `${option} is ${String(value)}, and must be a whole number from 0`, {
    remedy: `correct ${option}, or leave it out`,
  });
}
