/** Reranking with the APIs of Cohere and Jina. */
import type { Routes } from "../../http/context.ts";
import { createRoutes } from "../../http/routes.ts";
import type { Service } from "../../serving/service.ts";
import { handleCohereError } from "./errors.ts";
import { addRerank } from "./rerank.ts";

/** Creates the routes /v1/rerank and /v2/rerank. */
export function cohereRoutes(service: Service): Routes {
  const routes = createRoutes(handleCohereError);
  addRerank(routes, service, "1");
  addRerank(routes, service, "2");
  return routes;
}
