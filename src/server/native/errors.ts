/** How errors look in our own protocol. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Env, publicError } from "../context.ts";

const errorBody: z.ZodType = z
  .object({
    error: z.object({
      code: z.string().openapi({ description: "One of docs/reference/errors.md", example: "MODEL_NOT_FOUND" }),
      message: z.string(),
      remedy: z.string().optional().openapi({ description: "What to do next" }),
      retryable: z.boolean(),
      retry_after_ms: z.number().optional(),
      request_id: z.string(),
    }),
  })
  .openapi("Error");

interface ErrorAnswer {
  readonly description: string;
  readonly content: { readonly "application/json": { readonly schema: typeof errorBody } };
}

const answer = (description: string): ErrorAnswer => ({ description, content: { "application/json": { schema: errorBody } } });

type ErrorStatus = 400 | 401 | 403 | 404 | 413 | 422 | 429 | 500 | 503 | 504;

/** Of every route; what each status means is said in docs/reference/errors.md. */
export const errorAnswers: Readonly<Record<ErrorStatus, ErrorAnswer>> = {
  400: answer("The request is not right"),
  401: answer("A key is needed"),
  403: answer("This key may not do that"),
  404: answer("There is no such model"),
  413: answer("Too much at once"),
  422: answer("The model cannot do this"),
  429: answer("Too many requests wait already"),
  500: answer("It failed"),
  503: answer("Not now: loading, no memory, no engine, or ending"),
  504: answer("It took too long"),
};

export function nativeError(thrown: unknown, context: Context<Env>): Response {
  const { status, code, message, remedy, retryable, retryAfterMs, headers } = publicError(thrown);
  const error = {
    code,
    message,
    ...(remedy === undefined ? {} : { remedy }),
    retryable,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    request_id: context.get("requestId"),
  };
  return Response.json({ error }, { status, headers });
}
