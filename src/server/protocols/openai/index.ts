/** OpenAI's API, under /v1: what its clients ask of models that read texts. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Env, Routes } from "../../http/context.ts";
import { addUnimplemented } from "../unimplemented.ts";
import type { Service } from "../../serving/service.ts";
import { refuseInvalid } from "../../http/validation.ts";
import { addEmbeddings } from "./embeddings.ts";
import { errorBody, handleOpenAiError } from "./errors.ts";
import { addModels } from "./models.ts";

const unimplemented = {
  "/v1/chat/completions": "Answers to a conversation",
  "/v1/completions": "Text that goes on from a prompt",
  "/v1/responses": "Answers, with tools",
};

export function openAiRoutes(service: Service): Routes {
  const routes = new OpenAPIHono<Env>({ defaultHook: refuseInvalid });
  routes.onError(handleOpenAiError);
  addModels(routes, service);
  addEmbeddings(routes, service);
  addUnimplemented(routes, unimplemented, errorBody);
  return routes;
}
