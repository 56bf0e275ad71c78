/** How errors look in our own protocol. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Env, errorResponse, publicError } from "../../http/context.ts";
import { type DocumentedErrors, documentErrors } from "../../http/error-responses.ts";
import { loadProgressSchema } from "../load-progress-body.ts";

export const errorBody: z.ZodType = z
  .object({
    error: z.object({
      code: z.string().openapi({ description: "One of docs/reference/errors.md", example: "MODEL_NOT_FOUND" }),
      message: z.string(),
      remedy: z.string().optional().openapi({ description: "What to do next" }),
      retryable: z.boolean(),
      retry_after_ms: z.number().optional(),
      loading: loadProgressSchema.optional(),
      request_id: z.string(),
    }),
  })
  .openapi("Error");

/** Of every route of ours. */
export const documentedErrors: DocumentedErrors = documentErrors(errorBody);

export function handleInferyardError(thrown: unknown, context: Context<Env>): Response {
  const { status, code, message, remedy, retryable, retryAfterMs, loading, headers } = publicError(thrown);
  const error = {
    code,
    message,
    ...(remedy === undefined ? {} : { remedy }),
    retryable,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    ...(loading === undefined ? {} : { loading }),
    request_id: context.get("requestId"),
  };
  return errorResponse(context, { error }, { status, headers });
}
