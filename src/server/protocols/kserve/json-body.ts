/** JSON bodies that are read by their content alone, since clients of this protocol send them without a content type. */
import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Env } from "../../http/context.ts";
import { invalidRequest } from "../../http/validation.ts";
import { invalid } from "./json-data.ts";

/** The validated JSON body; a missing body is an empty object. Throws INPUT_INVALID and LIMIT_EXCEEDED. */
export async function jsonBody<Schema extends z.ZodType>(context: Context<Env>, schema: Schema): Promise<z.infer<Schema>> {
  const text = await context.get("body").text();
  let value: unknown = {};
  try {
    if (text.trim() !== "") value = JSON.parse(text);
  } catch {
    throw invalid("the body is not JSON");
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues);
}
