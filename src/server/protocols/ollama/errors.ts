/** Errors of Ollama's API. Its clients read `error` as a text; ollama-js would show an object as "[object Object]". */
import type { Context } from "hono";
import type { Env } from "../../http/context.ts";
import type { ErrorFormat } from "../../http/error-format.ts";
import { textErrors } from "../text-errors.ts";

/** Errors of Ollama's own routes. */
export const ollamaErrors: ErrorFormat = textErrors("OllamaError");

/** Whether the request comes from one of Ollama's own clients, by its `User-Agent`: "ollama-js/...", "ollama-python/...", "ollama/..." (Go). */
export function isOllamaClient(context: Context<Env>): boolean {
  return /^ollama(?:-[a-z]+)?\//.test(context.req.header("user-agent") ?? "");
}
