/** What the route of a task takes from its definition: the path, and the request fields of its options. */
import { z } from "@hono/zod-openapi";
import { required } from "../../../contract/checked.ts";
import type { TaskDescription } from "../../../tasks/definition/task.ts";
import type { OptionType, Option, OptionTable } from "../../../runtime/options/option.ts";
import { listField, nameField } from "../../http/field-schemas.ts";
import { requestLimits } from "../../http/request-limits.ts";
import { toSnakeCase } from "../../http/snake-case.ts";

/** Path of a task's route. Throws CONTRACT_VIOLATION if its definition has none. */
export function getPath({ task, route }: TaskDescription): string {
  return required(route, `the route of the task ${task}`);
}

/** Schemas of the options that requests have a field for, by field name. `limit`: maximum length of a list. */
export function optionFields(table: Readonly<Record<string, Option>>, limit: number): Record<string, z.ZodType> {
  const fields = Object.entries(table).flatMap(([option, { type, field }]) =>
    field === undefined
      ? []
      : [[toSnakeCase(option), getSchema(type, limit).optional().openapi({ description: field })] as const],
  );
  return Object.fromEntries(fields);
}

function getSchema(type: OptionType, limit: number): z.ZodType {
  switch (type.kind) {
    case "boolean":
      return z.boolean();
    case "choice":
      return z.enum(type.values);
    case "integer":
      return type.min === 1 ? z.int().positive() : z.int().nonnegative();
    case "number":
      return bounded(z.number(), type);
    case "name":
      return nameField();
    case "text":
      return z.string().max(requestLimits.templateCharacters);
    case "list":
    case "texts":
    case "strings":
      return listField(z.string().max(requestLimits.templateCharacters), { min: 1, max: limit });
    case "adapters":
    case "duration":
    case "integers":
    case "path":
    case "size":
    case "targets":
    case "unchecked":
      return z.unknown(); // the task checks it
    default:
      return type satisfies never;
  }
}

function bounded(schema: z.ZodNumber, { min, max }: { readonly min?: number; readonly max?: number }): z.ZodNumber {
  const fromBelow = min === undefined ? schema : schema.min(min);
  return max === undefined ? fromBelow : fromBelow.max(max);
}

/** The options that a validated request sets, by the names of the table. */
export function optionsFromFields<Options>(table: OptionTable<Options>, request: object): Partial<Options> {
  const values = new Map<string, unknown>(Object.entries(request));
  const entries = Object.entries<Option>(table).flatMap(([option, { field }]) => {
    const value = field === undefined ? undefined : values.get(toSnakeCase(option));
    return value === undefined ? [] : [[option, value] as const];
  });
  return Object.fromEntries(entries) as Partial<Options>; // the schema of each field gives values of its option's type
}
