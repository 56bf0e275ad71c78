/** OpenAI's API under /v1, as far as it concerns models that read texts. */
import type { Routes } from "../../http/context.ts";
import { createRoutes } from "../../http/routes.ts";
import { addUnimplemented } from "../unimplemented.ts";
import type { Service } from "../../serving/service.ts";
import { addEmbeddings } from "./embeddings.ts";
import { errorBody, handleOpenAiError } from "./errors.ts";
import { addModels } from "./models.ts";

const unimplemented = {
  "/v1/chat/completions": "Continue a conversation",
  "/v1/completions": "Generate text from a prompt",
  "/v1/responses": "Generate a response, with tools",
  "/openai/deployments/{deployment}/chat/completions": "Continue a conversation, as Azure OpenAI",
};

/** Creates the routes under /v1, without /v1/rerank. */
export function openAiRoutes(service: Service): Routes {
  const routes = createRoutes(handleOpenAiError);
  addModels(routes, service);
  addEmbeddings(routes, service);
  addUnimplemented(routes, unimplemented, errorBody);
  return routes;
}
