/** Errors as Anthropic's clients read them. */
import { z } from "@hono/zod-openapi";
import { InferyardError } from "../../../contract/errors.ts";
import type { ErrorFormat } from "../../http/error-format.ts";
import { retryFieldSchemas } from "../../http/error-responses.ts";
import { messageWithRemedy, publicError, retryFields } from "../../http/public-error.ts";

/** Errors with Anthropic's types. */
export const anthropicErrors: ErrorFormat = {
  schema: z
    .object({
      type: z.literal("error"),
      error: z.object({
        type: z.string().openapi({ example: "invalid_request_error" }),
        message: z.string(),
        code: z.string(),
        details: z.looseObject({ error_code: z.string() }).optional(),
        ...retryFieldSchemas,
      }),
      request_id: z.string().optional(),
    })
    .openapi("AnthropicError"),
  body: (_error, thrown, context) => ({ ...anthropicErrorBody(thrown), request_id: context.get("requestId") }),
};

/** The body of an error response without the id of its request, which is the data of an event in a stream. */
export function anthropicErrorBody(thrown: unknown): object {
  const error = publicError(thrown);
  return {
    type: "error",
    error: {
      type: getType(error.status),
      message: messageWithRemedy(error),
      code: error.code,
      ...getDetails(thrown),
      ...retryFields(error),
    },
  };
}

/** Anthropic's code for a conversation that is not kept: its SDK sends the whole conversation then. */
function getDetails(thrown: unknown): { readonly details?: object } {
  const path = thrown instanceof InferyardError ? thrown.data["path"] : undefined;
  return Array.isArray(path) && path[0] === "thread" ? { details: { error_code: "thread_not_found" } } : {};
}

function getType(status: number): string {
  const types: Readonly<Record<number, string>> = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
  };
  return types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}
