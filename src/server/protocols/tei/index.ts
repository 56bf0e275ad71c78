/** The API of Hugging Face's text-embeddings-inference, version 1.9. /v1/embeddings is OpenAI's here; /health and /metrics are the server's own. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Env, Routes } from "../../http/context.ts";
import type { Service } from "../../serving/service.ts";
import { refuseInvalid } from "../../http/validation.ts";
import { addEmbed, addEmbedAll, addEmbedSparse } from "./embed.ts";
import { handleTeiError } from "./errors.ts";
import { addInfo } from "./info.ts";
import { addPredict, addRerank, addSimilarity } from "./rank.ts";
import { addDecode, addTokenize } from "./tokens.ts";

export function teiRoutes(service: Service): Routes {
  const routes = new OpenAPIHono<Env>({ defaultHook: refuseInvalid });
  routes.onError(handleTeiError);
  for (const add of [
    addEmbed,
    addEmbedAll,
    addEmbedSparse,
    addRerank,
    addPredict,
    addSimilarity,
    addTokenize,
    addDecode,
    addInfo,
  ])
    add(routes, service);
  return routes;
}
