/** Errors of the protocols in which `error` is a text: the Open Inference Protocol, and Ollama's API. The fields for programs are Inferyard's own. */
import { z } from "@hono/zod-openapi";
import type { ErrorFormat } from "../http/error-format.ts";
import { retryFieldSchemas } from "../http/error-responses.ts";
import { messageWithRemedy, retryFields } from "../http/public-error.ts";

/** Errors as one object with `error` and `code`. `schemaName`: name of the body's schema in the OpenAPI document. */
export function textErrors(schemaName: string, meanings: Readonly<Record<number, string>> = {}): ErrorFormat {
  return {
    schema: z.object({ error: z.string(), code: z.string(), ...retryFieldSchemas, request_id: z.string() }).openapi(schemaName),
    meanings,
    body: (error, _thrown, context) => ({
      error: messageWithRemedy(error),
      code: error.code,
      ...retryFields(error),
      request_id: context.get("requestId"),
    }),
  };
}
