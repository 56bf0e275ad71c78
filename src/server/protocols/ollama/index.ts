/** The part of Ollama's API that concerns models which read texts. `POST /api/embed` and `/api/rerank` are in `inferyard/`, which serves both APIs. */
import type { Routes } from "../../http/context.ts";
import { createRoutes } from "../../http/routes.ts";
import type { Service } from "../../serving/service.ts";
import { handleTextError } from "../text-errors.ts";
import { addUnimplemented } from "../unimplemented.ts";
import { addEmbeddings } from "./embeddings.ts";
import { errorBody } from "./errors.ts";
import { addModels } from "./models.ts";

const unimplemented = {
  "/api/chat": "Continue a conversation, as Ollama",
};

/** Creates the routes under /api that only Ollama has. */
export function ollamaRoutes(service: Service): Routes {
  const routes = createRoutes(handleTextError);
  addEmbeddings(routes, service);
  addModels(routes, service);
  addUnimplemented(routes, unimplemented, errorBody);
  return routes;
}
