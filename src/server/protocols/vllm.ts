/** GET /version of vLLM's server. Its other routes are OpenAI's, with additional fields, and /tokenize (in tei/) and /detokenize (in llamacpp/). */
import { z } from "@hono/zod-openapi";
import { version as inferyard } from "../../version.ts";
import { openAiErrors } from "./openai/errors.ts";
import type { Protocol } from "./protocol.ts";

/** The release of vLLM whose fields the routes follow. */
const vllmVersion = "0.12.0";

/** The route /version. */
export const vllm: Protocol = {
  errors: openAiErrors,
  routes: () => [
    {
      method: "get",
      path: "/version",
      summary: "The version of vLLM's API that is spoken, and that of Inferyard",
      description: "Both versions",
      response: z
        .object({
          version: z.string().openapi({ description: "The release of vLLM whose fields are taken", example: vllmVersion }),
          inferyard: z.string().openapi({ description: "Version of Inferyard" }),
        })
        .openapi("VllmVersion"),
      errors: [],
      answer: (context) => context.json({ version: vllmVersion, inferyard }, 200),
    },
  ],
};
