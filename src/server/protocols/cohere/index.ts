/** Embedding and reranking with the API of Cohere; reranking also with that of Jina. */
import type { Protocol } from "../protocol.ts";
import { cohereEmbedRoute } from "./embed.ts";
import { cohereErrors } from "./errors.ts";
import { rankingRoute } from "./ranking.ts";
import { rerankRoutes } from "./rerank.ts";

/** The routes embed and rerank, under all their paths. */
export const cohere: Protocol = {
  errors: cohereErrors,
  routes: (service) => [
    cohereEmbedRoute(service, "1"),
    cohereEmbedRoute(service, "2"),
    ...rerankRoutes(service),
    rankingRoute(service),
  ],
};
