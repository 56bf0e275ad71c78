/** Errors as Cohere's clients read them (`message`) and as Jina's do (`detail`). */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Env, errorResponse, publicError } from "../../http/context.ts";
import { type DocumentedErrors, documentErrors } from "../../http/error-responses.ts";
import { loadProgressSchema } from "../load-progress-body.ts";

const errorBody: z.ZodType = z
  .object({
    id: z.string(),
    message: z.string(),
    detail: z.string(),
    code: z.string().openapi({ example: "MODEL_NOT_FOUND" }),
    retryable: z.boolean(),
    retry_after_ms: z.number().optional(),
    loading: loadProgressSchema.optional(),
  })
  .openapi("CohereError");

export const documentedErrors: DocumentedErrors = documentErrors(errorBody);

export function handleCohereError(thrown: unknown, context: Context<Env>): Response {
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
  return errorResponse(context, body, { status, headers });
}
