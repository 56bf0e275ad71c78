/** Answers whose types are the library's own: the document has their JSON schema, and what is sent is not copied. */
import { z } from "@hono/zod-openapi";

export function documentedType<Value>(name: string, schema: Readonly<Record<string, unknown>>): z.ZodType<Value> {
  const { $schema: _dialect, title: _title, ...shape } = schema;
  return z.custom<Value>((value) => value !== null).openapi(name, shape); // without a check it would be "or null" in the document
}
