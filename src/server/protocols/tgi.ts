/** The routes of text-generation-inference (TGI) 3 that no other protocol has. Its `POST /` and `GET /info` are text-embeddings-inference's. */
import { z } from "@hono/zod-openapi";
import type { Routes } from "../http/context.ts";
import { jsonBody } from "../http/json-body.ts";
import { jsonRoute } from "../http/json-route.ts";
import { createRoutes } from "../http/routes.ts";
import type { Service } from "../serving/service.ts";
import { answerGeneration } from "./huggingface/answer-generation.ts";
import { generationRequest } from "./huggingface/generation-request.ts";
import { documentedErrors, handleTeiError } from "./tei/errors.ts";

const response = z
  .union([z.looseObject({ generated_text: z.string() }), z.array(z.unknown())])
  .openapi({ description: "The text, with `details` where they are asked for; of several prompts a list" });

const paths = {
  "/generate": ["Generate what follows a prompt, as text-generation-inference", false],
  "/generate_stream": ["The same token by token, as server-sent events", true],
} as const;

/** Creates the routes /generate and /generate_stream, which run the default model or the model in the header x-inferyard-model. */
export function tgiRoutes(service: Service): Routes {
  const routes = createRoutes(handleTeiError);
  const request = generationRequest(service.limits.maxTexts);
  for (const [path, [summary, isStreamed]] of Object.entries(paths)) {
    routes.openAPIRegistry.registerPath(jsonRoute(path, summary, request, response, documentedErrors));
    routes.post(path, async (context) => {
      const answer = { task: "text-generation", isSingle: true, ...(isStreamed ? { isStreamed } : {}) } as const;
      return answerGeneration(service, context, await jsonBody(context), answer);
    });
  }
  return routes;
}
