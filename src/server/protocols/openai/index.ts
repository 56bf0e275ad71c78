/** OpenAI's API under /v1, as far as it concerns models that read and write texts. */
import type { Routes } from "../../http/context.ts";
import { createRoutes } from "../../http/routes.ts";
import type { Service } from "../../serving/service.ts";
import { addChatCompletions } from "./chat.ts";
import { addCompletions } from "./completions.ts";
import { addResponses } from "./responses.ts";
import { addEmbeddings } from "./embeddings.ts";
import { handleOpenAiError } from "./errors.ts";
import { addModels } from "./models.ts";

/** Creates the routes under /v1, without /v1/rerank. */
export function openAiRoutes(service: Service): Routes {
  const routes = createRoutes(handleOpenAiError);
  addModels(routes, service);
  addEmbeddings(routes, service);
  addChatCompletions(routes, service);
  addCompletions(routes, service);
  addResponses(routes, service);
  return routes;
}
