/** Errors of the Open Inference Protocol: `error` is a sentence; the fields for programs are Inferyard's own. */
import { z } from "@hono/zod-openapi";
import { type DocumentedErrors, documentErrors, retryFieldSchemas, statusMeanings } from "../../http/error-responses.ts";
import { errorResponse, messageWithRemedy, publicError, retryFields } from "../../http/public-error.ts";
import type { ErrorHandler } from "../../http/routes.ts";

/** Schema of the body of every error response of the Open Inference Protocol. */
export const errorBody: z.ZodType = z
  .object({ error: z.string(), code: z.string(), ...retryFieldSchemas, request_id: z.string() })
  .openapi("InferenceError");

/** The error responses of every route. */
export const documentedErrors: DocumentedErrors = documentErrors(errorBody, {
  ...statusMeanings,
  404: "There is no such model or version",
});

/** The error as one object with `error` and `code`. */
export const handleKserveError: ErrorHandler = (thrown, context) => {
  const error = publicError(thrown);
  const requestId = context.get("requestId");
  const body = { error: messageWithRemedy(error), code: error.code, ...retryFields(error), request_id: requestId };
  return errorResponse(context, body, error);
};
