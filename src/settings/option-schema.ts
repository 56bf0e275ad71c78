/** Schemas of options, made from their tables. The schema library is slow to load: imported only when there are settings to check. */
import * as z from "zod";
import type { DescribedOption, OptionType } from "../runtime/options/option.ts";

/** A duration such as "30s", or a number of milliseconds. */
export const durationSchema: z.ZodType<string | number> = z.union([
  z.string().regex(/^(\d+(\.\d+)?(ms|s|m|h)|0)$/, 'must be a duration such as "30s", "5m" or "1h", or 0'),
  z.number().nonnegative(),
]);

/** An amount of memory such as "2GB", or a number of bytes. */
export const sizeSchema: z.ZodType<string | number> = z.union([
  z.string().regex(/^\d+(\.\d+)?\s*([kmgt]?i?b)?$/i, 'must be an amount of memory such as "500MB", "2GB" or "1.5GiB"'),
  z.int().positive(),
]);

/** An integer above 0. */
export const count: z.ZodInt = z.int().positive();

/**
 * Schemas with the descriptions of the options, by name. `own`: schemas of options whose type does not say all.
 */
export function optionSchemas<Name extends string>(
  options: Readonly<Record<Name, DescribedOption>>,
  own?: Readonly<Partial<Record<Name, z.ZodType>>>,
): Record<Name, z.ZodType> {
  const entries = Object.entries<DescribedOption>(options).map(([name, { type, description }]) => {
    const schema = own?.[name as Name] ?? schemaOf(type);
    return [name, schema.describe(description)];
  });
  return Object.fromEntries(entries) as Record<Name, z.ZodType>;
}

function schemaOf(type: OptionType): z.ZodType {
  switch (type.kind) {
    case "boolean":
      return z.boolean();
    case "choice": {
      const listed = z.enum(type.values);
      return type.read === undefined ? listed : z.preprocess(type.read, listed);
    }
    case "integer":
      return type.word === undefined ? integer(type) : z.union([z.literal(type.word), integer(type)]);
    case "number":
      return z.number();
    case "name":
    case "text":
      return z.string();
    case "path":
      return z.string().min(1);
    case "list":
    case "strings":
      return z.array(z.string());
    case "texts":
      return z.array(z.string().min(1)).min(1);
    case "integers":
      return z.array(count);
    case "duration":
      return durationSchema;
    case "size":
      return sizeSchema;
    case "targets":
      return z.union([z.string(), z.array(z.string())]);
    case "adapters":
      return z.array(z.strictObject({ path: z.string().min(1), scale: z.number().optional() })).min(1);
    case "unchecked":
      return z.unknown();
    default:
      return type satisfies never;
  }
}

function integer({ min, max }: Extract<OptionType, { kind: "integer" }>): z.ZodType {
  const bounded = min === 1 ? count : z.int().min(min);
  return max === undefined ? bounded : bounded.max(max);
}
