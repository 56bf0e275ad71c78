/**
 * The API of Hugging Face's text-embeddings-inference (TEI) 1.9, without /v1/embeddings, which is OpenAI's, and /health and /metrics, which are
 * the server's own.
 */
import type { Protocol } from "../protocol.ts";
import { embedRoutes } from "./embed.ts";
import { teiErrors } from "./errors.ts";
import { infoRoute } from "./info.ts";
import { teiPredictRoute, teiRerankRoute, similarityRoute } from "./rank.ts";
import { rootRoutes } from "./root.ts";
import { decodeRoute, tokenizeRoute } from "./tokens.ts";

/** The routes of text-embeddings-inference. */
export const tei: Protocol = {
  errors: teiErrors,
  routes: (service) => [
    ...embedRoutes(service),
    ...[teiRerankRoute, teiPredictRoute, similarityRoute, tokenizeRoute, decodeRoute, infoRoute].map((route) => route(service)),
    ...rootRoutes(service),
  ],
};
