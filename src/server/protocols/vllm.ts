/** GET /version of vLLM's server. Its other routes are OpenAI's, with additional fields, and /tokenize (in tei/) and /detokenize (in llamacpp/). */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { version as inferyard } from "../../version.ts";
import type { Routes } from "../http/context.ts";
import { jsonContent } from "../http/error-responses.ts";
import { createRoutes } from "../http/routes.ts";
import { handleOpenAiError } from "./openai/errors.ts";

/** The release of vLLM whose fields the routes follow. */
const vllmVersion = "0.12.0";

const body = z
  .object({
    version: z.string().openapi({ description: "The release of vLLM whose fields are taken", example: vllmVersion }),
    inferyard: z.string().openapi({ description: "Version of Inferyard" }),
  })
  .openapi("VllmVersion");

const route = createRoute({
  method: "get",
  path: "/version",
  summary: "The version of vLLM's API that is spoken, and that of Inferyard",
  responses: { 200: jsonContent("Both versions", body) },
} satisfies RouteConfig);

/** Creates the route /version. */
export function vllmRoutes(): Routes {
  const routes = createRoutes(handleOpenAiError);
  routes.openapi(route, (context) => context.json({ version: vllmVersion, inferyard }, 200));
  return routes;
}
