/** GET /api/version: the version of Ollama's API that these routes speak. Clients compare it with the least one that they need. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { version as inferyard } from "../../../version.ts";
import type { Routes } from "../../http/context.ts";
import { jsonContent } from "../../http/error-responses.ts";

/** The release of Ollama whose API the routes follow. */
export const ollamaVersion = "0.20.0";

const body = z
  .object({
    version: z.string().openapi({ description: "The release of Ollama whose API is spoken", example: ollamaVersion }),
    inferyard: z.string().openapi({ description: "Version of Inferyard" }),
  })
  .openapi("OllamaVersion");

const route = createRoute({
  method: "get",
  path: "/api/version",
  summary: "The version of Ollama's API that is spoken, and that of Inferyard",
  responses: { 200: jsonContent("Both versions", body) },
} satisfies RouteConfig);

/** Adds `GET /api/version`. */
export function addVersion(routes: Routes): void {
  routes.openapi(route, (context) => context.json({ version: ollamaVersion, inferyard }, 200));
}
