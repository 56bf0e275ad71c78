/** Errors of Ollama's API. Its clients read `error` as a text; ollama-js would show an object as "[object Object]". */
import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Env } from "../../http/context.ts";
import { type DocumentedErrors, documentErrors, statusMeanings } from "../../http/error-responses.ts";
import { textErrorBody } from "../text-errors.ts";

/** Schema of the body of every error response of Ollama's own routes. */
export const errorBody: z.ZodType = textErrorBody("OllamaError");

/** The error responses of every route. */
export const documentedErrors: DocumentedErrors = documentErrors(errorBody, statusMeanings);

/** Whether the request comes from one of Ollama's own clients, by its `User-Agent`: "ollama-js/...", "ollama-python/...", "ollama/..." (Go). */
export function isOllamaClient(context: Context<Env>): boolean {
  return /^ollama(?:-[a-z]+)?\//.test(context.req.header("user-agent") ?? "");
}
