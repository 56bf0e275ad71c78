/** Errors as Cohere's clients read them (`message`) and as Jina's do (`detail`). */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Env, errorOf, publicError } from "../../http/context.ts";
import { type ErrorAnswers, errorAnswersOf } from "../../http/error-responses.ts";
import { shownProgressSchema } from "../load-progress-body.ts";

const errorBody: z.ZodType = z
  .object({
    id: z.string(),
    message: z.string(),
    detail: z.string(),
    code: z.string().openapi({ example: "MODEL_NOT_FOUND" }),
    retryable: z.boolean(),
    retry_after_ms: z.number().optional(),
    loading: shownProgressSchema.optional(),
  })
  .openapi("CohereError");

export const errorAnswers: ErrorAnswers = errorAnswersOf(errorBody);

export function cohereError(thrown: unknown, context: Context<Env>): Response {
  const { status, code, message, remedy, retryable, retryAfterMs, loading, headers } = publicError(thrown);
  const told = remedy === undefined ? message : `${message} (${remedy})`;
  const body = {
    id: context.get("requestId"),
    message: told,
    detail: told,
    code,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    ...(loading === undefined ? {} : { loading }),
  };
  return errorOf(context, body, { status, headers });
}
