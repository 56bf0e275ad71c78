/** The part of Ollama's API that concerns models which read and write texts. `POST /api/embed` and `/api/rerank` are in `inferyard/`, which serves both APIs. */
import type { Routes } from "../../http/context.ts";
import { createRoutes } from "../../http/routes.ts";
import type { Service } from "../../serving/service.ts";
import { handleTextError } from "../text-errors.ts";
import { addEmbeddings } from "./embeddings.ts";
import { addGeneration } from "./generation.ts";
import { addModels } from "./models.ts";
import { addVersion } from "./version.ts";

/** Creates the routes under /api that only Ollama has. */
export function ollamaRoutes(service: Service): Routes {
  const routes = createRoutes(handleTextError);
  addVersion(routes);
  addEmbeddings(routes, service);
  addModels(routes, service);
  addGeneration(routes, service);
  return routes;
}
