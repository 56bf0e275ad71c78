/** Errors of the protocols in which `error` is a text: the Open Inference Protocol, and Ollama's API. The fields for programs are Inferyard's own. */
import { z } from "@hono/zod-openapi";
import { retryFieldSchemas } from "../http/error-responses.ts";
import { errorResponse, messageWithRemedy, publicError, retryFields } from "../http/public-error.ts";
import type { ErrorHandler } from "../http/routes.ts";

/** Schema of an error with a text. `schemaName`: its name in the OpenAPI document. */
export function textErrorBody(schemaName: string): z.ZodType {
  return z.object({ error: z.string(), code: z.string(), ...retryFieldSchemas, request_id: z.string() }).openapi(schemaName);
}

/** The error as one object with `error` and `code`. */
export const handleTextError: ErrorHandler = (thrown, context) => {
  const error = publicError(thrown);
  const requestId = context.get("requestId");
  const body = { error: messageWithRemedy(error), code: error.code, ...retryFields(error), request_id: requestId };
  return errorResponse(context, body, error);
};
