/** JSON bodies that a route reads itself: their content type, or which schema they have, is not known beforehand. */
import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { InferyardError } from "../../contract/errors.ts";
import type { Env } from "./context.ts";
import { invalidRequest } from "./validation.ts";

/** The JSON body; a missing body is an empty object. Throws INPUT_INVALID and LIMIT_EXCEEDED. */
export async function jsonBody(context: Context<Env>): Promise<unknown> {
  const text = await context.get("body").text();
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new InferyardError("INPUT_INVALID", "the body is not JSON", {
      remedy: "send a JSON object; GET /openapi.json describes every request",
    });
  }
}

/** The value as the schema has it. Throws INPUT_INVALID and LIMIT_EXCEEDED. */
export function validated<Schema extends z.ZodType>(value: unknown, schema: Schema): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues);
}
