/** Errors of the Open Inference Protocol. */
import type { z } from "@hono/zod-openapi";
import { type DocumentedErrors, documentErrors, statusMeanings } from "../../http/error-responses.ts";
import { textErrorBody } from "../text-errors.ts";

/** Schema of the body of every error response of the Open Inference Protocol. */
export const errorBody: z.ZodType = textErrorBody("InferenceError");

/** The error responses of every route. */
export const documentedErrors: DocumentedErrors = documentErrors(errorBody, {
  ...statusMeanings,
  404: "There is no such model or version",
});
