/** How requests of a route are read: their schema, and what a request of it asks for. */
import type { z } from "@hono/zod-openapi";
import type { IgnorePart } from "../fields/take-fields.ts";

/** The requests of one form. */
export interface RequestForm<Call> {
  readonly schema: z.ZodType;
  /** What a request, which the schema has checked, asks for. Parts without effect are given to `ignore`. Throws INPUT_INVALID for what is not built. */
  readonly read: (request: unknown, ignore: IgnorePart) => Call;
}

/** The form with a schema and a function that reads what it has checked. */
export function requestForm<Schema extends z.ZodType, Call>(
  schema: Schema,
  read: (request: z.infer<Schema>, ignore: IgnorePart) => Call,
): RequestForm<Call> {
  return { schema, read: (request, ignore) => read(request as z.infer<Schema>, ignore) };
}
