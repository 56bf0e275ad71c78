/** GET /api/version: the version of Ollama's API that these routes speak. Clients compare it with the least one that they need. */
import { z } from "@hono/zod-openapi";
import { version as inferyard } from "../../../version.ts";
import type { Route } from "../../http/routes/route.ts";

/** The release of Ollama whose API the routes follow. */
export const ollamaVersion = "0.20.0";

/** `GET /api/version`. */
export const versionRoute: Route = {
  method: "get",
  path: "/api/version",
  summary: "The version of Ollama's API that is spoken, and that of Inferyard",
  description: "Both versions",
  response: z
    .object({
      version: z.string().openapi({ description: "The release of Ollama whose API is spoken", example: ollamaVersion }),
      inferyard: z.string().openapi({ description: "Version of Inferyard" }),
    })
    .openapi("OllamaVersion"),
  errors: [],
  answer: (context) => context.json({ version: ollamaVersion, inferyard }, 200),
};
