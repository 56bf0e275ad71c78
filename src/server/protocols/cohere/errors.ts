/** Errors of Cohere's and Jina's APIs: Cohere's clients read `message`, Jina's read `detail`. */
import { z } from "@hono/zod-openapi";
import type { ErrorFormat } from "../../http/error-format.ts";
import { retryFieldSchemas } from "../../http/error-responses.ts";
import { messageWithRemedy, retryFields } from "../../http/public-error.ts";

/** Errors with the same text as `message` and as `detail`. */
export const cohereErrors: ErrorFormat = {
  schema: z
    .object({
      id: z.string(),
      message: z.string(),
      detail: z.string(),
      code: z.string().openapi({ example: "MODEL_NOT_FOUND" }),
      ...retryFieldSchemas,
    })
    .openapi("CohereError"),
  body: (error, _thrown, context) => {
    const message = messageWithRemedy(error);
    return { id: context.get("requestId"), message, detail: message, code: error.code, ...retryFields(error) };
  },
};
