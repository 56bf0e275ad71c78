/** Requests of one form with their answers. Several routes may take the same form: at its own path, at the address alone, at a path with the model. */
import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Env } from "../http/context.ts";
import { takeFields } from "../http/fields/take-fields.ts";

/** A schema of requests, and the answer to a request of it. */
export interface AnsweredForm {
  readonly schema: z.ZodType;
  /** Answers a request that the schema has checked. `model`: the model in the path. Default: the model in the header, or the default model. */
  readonly answer: (request: unknown, context: Context<Env>, model?: string) => Promise<Response>;
}

/** The form of a schema. */
export function answeredForm<Schema extends z.ZodType>(
  schema: Schema,
  answer: (request: z.infer<Schema>, context: Context<Env>, model?: string) => Promise<Response>,
): AnsweredForm {
  return { schema, answer: (request, context, model) => answer(request as z.infer<Schema>, context, model) };
}

/** Answers a body that is not checked yet. Throws INPUT_INVALID and LIMIT_EXCEEDED. */
export function answerBody(
  { schema, answer }: AnsweredForm,
  context: Context<Env>,
  body: unknown,
  model?: string,
): Promise<Response> {
  return answer(takeFields(context, body, schema), context, model);
}
