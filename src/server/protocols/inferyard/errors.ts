/** Errors of the REST API under /api: an object, or for Ollama's own clients a text, as they read it. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { type DocumentedErrors, documentErrors, retryFieldSchemas, statusMeanings } from "../../http/error-responses.ts";
import { errorResponse, publicError, retryFields } from "../../http/public-error.ts";
import type { ErrorHandler } from "../../http/routes.ts";
import { isOllamaClient } from "../ollama/errors.ts";
import { handleTextError } from "../text-errors.ts";

/** Schema of the body of every error response under /api. */
export const errorBody: z.ZodType = z
  .object({
    error: z.object({
      code: z.string().openapi({ description: "One of docs/reference/errors.md", example: "MODEL_NOT_FOUND" }),
      message: z.string(),
      remedy: z.string().optional().openapi({ description: "What to do next" }),
      ...retryFieldSchemas,
      decision: z
        .string()
        .optional()
        .openapi({ description: "Id of the decision, where one was made; also in x-inferyard-decision" }),
      request_id: z.string(),
    }),
  })
  .openapi("Error");

/** The error responses of every route. */
export const documentedErrors: DocumentedErrors = documentErrors(errorBody, statusMeanings);

/** The error as `{ error: { code, message, remedy, ... } }`; as `{ error: "message", code, ... }` for clients of Ollama. */
export const handleInferyardError: ErrorHandler = (thrown, context) => {
  if (isOllamaClient(context)) return handleTextError(thrown, context);
  const error = publicError(thrown);
  const { code, message, remedy } = error;
  const requestId = context.get("requestId");
  const decision = context.get("call")?.decision;
  const body = {
    code,
    message,
    ...omitUndefined({ remedy }),
    ...retryFields(error),
    ...omitUndefined({ decision }),
    request_id: requestId,
  };
  return errorResponse(context, { error: body }, error);
};
