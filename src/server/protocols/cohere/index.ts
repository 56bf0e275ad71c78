/** Reranking, as Cohere's and Jina's clients ask for it. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Env, Routes } from "../../http/context.ts";
import type { Service } from "../../serving/service.ts";
import { refuseInvalid } from "../../http/validation.ts";
import { handleCohereError } from "./errors.ts";
import { addRerank } from "./rerank.ts";

export function cohereRoutes(service: Service): Routes {
  const routes = new OpenAPIHono<Env>({ defaultHook: refuseInvalid });
  routes.onError(handleCohereError);
  addRerank(routes, service, "1");
  addRerank(routes, service, "2");
  return routes;
}
