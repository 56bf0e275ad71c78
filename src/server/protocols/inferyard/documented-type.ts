/** Response types that are the library's own: documented by their JSON schema, and sent without copying. */
import { z } from "@hono/zod-openapi";

/** A schema that documents a type with this JSON schema and does not validate. */
export function documentedType<Value>(name: string, schema: Readonly<Record<string, unknown>>): z.ZodType<Value> {
  const { $schema: _dialect, title: _title, ...shape } = schema;
  return z.custom<Value>((value) => value !== null).openapi(name, shape); // without a check the document would say "or null"
}
