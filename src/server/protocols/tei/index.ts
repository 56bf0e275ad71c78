/**
 * The API of Hugging Face's text-embeddings-inference (TEI) 1.9, without /v1/embeddings, which is OpenAI's, and /health and /metrics, which are
 * the server's own.
 */
import type { Routes } from "../../http/context.ts";
import { createRoutes } from "../../http/routes.ts";
import type { Service } from "../../serving/service.ts";
import { addEmbed, addEmbedAll, addEmbedSparse } from "./embed.ts";
import { handleTeiError } from "./errors.ts";
import { addInfo } from "./info.ts";
import { addPredict, addRerank, addSimilarity } from "./rank.ts";
import { addRoot } from "./root.ts";
import { addDecode, addTokenize } from "./tokens.ts";

/** Creates the routes of text-embeddings-inference. */
export function teiRoutes(service: Service): Routes {
  const routes = createRoutes(handleTeiError);
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
    addRoot,
  ])
    add(routes, service);
  return routes;
}
