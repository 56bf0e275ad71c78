/** Errors of Cohere's and Jina's APIs: Cohere's clients read `message`, Jina's read `detail`. */
import { z } from "@hono/zod-openapi";
import { type DocumentedErrors, documentErrors, retryFieldSchemas, statusMeanings } from "../../http/error-responses.ts";
import { errorResponse, messageWithRemedy, publicError, retryFields } from "../../http/public-error.ts";
import type { ErrorHandler } from "../../http/routes.ts";

const errorBody: z.ZodType = z
  .object({
    id: z.string(),
    message: z.string(),
    detail: z.string(),
    code: z.string().openapi({ example: "MODEL_NOT_FOUND" }),
    ...retryFieldSchemas,
  })
  .openapi("CohereError");

/** The error responses of both routes. */
export const documentedErrors: DocumentedErrors = documentErrors(errorBody, statusMeanings);

/** The error with the same text as `message` and as `detail`. */
export const handleCohereError: ErrorHandler = (thrown, context) => {
  const error = publicError(thrown);
  const message = messageWithRemedy(error);
  const body = { id: context.get("requestId"), message, detail: message, code: error.code, ...retryFields(error) };
  return errorResponse(context, body, error);
};
