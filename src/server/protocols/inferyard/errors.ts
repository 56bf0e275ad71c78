/** Errors of the REST API under /api: an object, or for Ollama's own clients a text, as they read it. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import type { ErrorFormat } from "../../http/error-format.ts";
import { retryFieldSchemas } from "../../http/error-responses.ts";
import { retryFields } from "../../http/public-error.ts";
import { isOllamaClient, ollamaErrors } from "../ollama/errors.ts";

/** Errors as `{ error: { code, message, remedy, ... } }`; as `{ error: "message", code, ... }` for clients of Ollama. */
export const inferyardErrors: ErrorFormat = {
  schema: z
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
    .openapi("Error"),
  body: (error, thrown, context) => {
    if (isOllamaClient(context)) return ollamaErrors.body(error, thrown, context);
    const { code, message, remedy } = error;
    const decision = context.get("call")?.decision;
    return {
      error: {
        code,
        message,
        ...omitUndefined({ remedy }),
        ...retryFields(error),
        ...omitUndefined({ decision }),
        request_id: context.get("requestId"),
      },
    };
  },
};
