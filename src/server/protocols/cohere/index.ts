/** Embedding and reranking with the API of Cohere; reranking also with that of Jina. */
import type { Routes } from "../../http/context.ts";
import { createRoutes } from "../../http/routes.ts";
import type { Service } from "../../serving/service.ts";
import { addEmbed } from "./embed.ts";
import { handleCohereError } from "./errors.ts";
import { addRanking } from "./ranking.ts";
import { addRerank } from "./rerank.ts";

/** Creates the routes embed and rerank, under all their paths. */
export function cohereRoutes(service: Service): Routes {
  const routes = createRoutes(handleCohereError);
  for (const version of ["1", "2"] as const) addEmbed(routes, service, version);
  addRerank(routes, service);
  addRanking(routes, service);
  return routes;
}
