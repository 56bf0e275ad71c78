/** Errors as OpenAI's clients read them: they choose their error class by the status, and show `message`. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { InferyardError } from "../../../errors.ts";
import { type Env, type PublicError, errorResponse, publicError } from "../../http/context.ts";
import { type DocumentedErrors, documentErrors } from "../../http/error-responses.ts";
import { loadProgressSchema } from "../load-progress-body.ts";

export const errorBody: z.ZodType = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string().openapi({ example: "invalid_request_error" }),
      param: z.string().nullable().openapi({ description: "The field that is not right, where there is one" }),
      code: z.string().openapi({ example: "model_not_found" }),
      retryable: z.boolean(),
      retry_after_ms: z.number().optional(),
      loading: loadProgressSchema.optional(),
    }),
  })
  .openapi("OpenAIError");

export const documentedErrors: DocumentedErrors = documentErrors(errorBody);

export function handleOpenAiError(thrown: unknown, context: Context<Env>): Response {
  const said = publicError(thrown);
  const tooLong = said.code === "INPUT_TOO_LONG"; // OpenAI's own word and status for it
  const status = tooLong ? 400 : said.status;
  const error = {
    message: said.remedy === undefined ? said.message : `${said.message} (${said.remedy})`,
    type: typeOf(status),
    param: paramOf(thrown, said),
    code: tooLong ? "context_length_exceeded" : said.code.toLowerCase(),
    retryable: said.retryable,
    ...(said.retryAfterMs === undefined ? {} : { retry_after_ms: said.retryAfterMs }),
    ...(said.loading === undefined ? {} : { loading: said.loading }),
  };
  return errorResponse(context, { error }, { status, headers: said.headers });
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

function paramOf(thrown: unknown, { code }: PublicError): string | null {
  if (code === "MODEL_NOT_FOUND" || code === "MODEL_UNSUPPORTED") return "model";
  if (code === "INPUT_TOO_LONG") return "input";
  const path = thrown instanceof InferyardError ? thrown.data["path"] : undefined;
  return Array.isArray(path) && path.length > 0 ? path.join(".") : null;
}
