/** Errors as OpenAI's clients read them: the HTTP status selects the exception class, and `message` is shown. */
import { z } from "@hono/zod-openapi";
import { InferyardError } from "../../../contract/errors.ts";
import type { ErrorFormat } from "../../http/error-format.ts";
import { retryFieldSchemas } from "../../http/error-responses.ts";
import { type PublicError, messageWithRemedy, publicError, retryFields } from "../../http/public-error.ts";

/** Errors with OpenAI's `type`, `param` and `code`. A text that is too long has OpenAI's own code and status 400. */
export const openAiErrors: ErrorFormat = {
  schema: z
    .object({
      error: z.object({
        message: z.string(),
        type: z.string().openapi({ example: "invalid_request_error" }),
        param: z.string().nullable().openapi({ description: "The invalid field, where there is one" }),
        code: z.string().openapi({ example: "model_not_found" }),
        ...retryFieldSchemas,
      }),
    })
    .openapi("OpenAIError"),
  body: (_error, thrown) => ({ error: openAiErrorBody(thrown) }),
  status: getStatus,
};

/** The object `error` of a response, or of an event in a stream. */
export function openAiErrorBody(thrown: unknown): Readonly<Record<"message" | "code", string>> & object {
  const error = publicError(thrown);
  const param = getParam(thrown, error);
  const body = { message: messageWithRemedy(error), type: getType(getStatus(error)), param, code: getCode(error, param) };
  return { ...body, ...retryFields(error) };
}

/** OpenAI's code where clients act on it: those that refer to a stored response send the whole conversation then. */
function getCode({ code }: PublicError, param: string | null): string {
  if (code === "INPUT_TOO_LONG") return "context_length_exceeded";
  return param === "previous_response_id" ? "previous_response_not_found" : code.toLowerCase();
}

function getStatus({ code, status }: PublicError): number {
  return code === "INPUT_TOO_LONG" ? 400 : status;
}

function getType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

function getParam(thrown: unknown, { code }: PublicError): string | null {
  if (code === "MODEL_NOT_FOUND" || code === "MODEL_UNSUPPORTED") return "model";
  if (code === "INPUT_TOO_LONG") return "input";
  const path = thrown instanceof InferyardError ? thrown.data["path"] : undefined;
  return Array.isArray(path) && path.length > 0 ? path.join(".") : null;
}
