/** The part of Ollama's API that concerns models which read and write texts. `POST /api/embed` and `/api/rerank` are in `inferyard/`, which serves both APIs. */
import type { Protocol } from "../protocol.ts";
import { embeddingRoute } from "./embeddings.ts";
import { ollamaErrors } from "./errors.ts";
import { generationRoutes } from "./generation.ts";
import { ollamaModelRoutes } from "./models.ts";
import { versionRoute } from "./version.ts";

/** The routes under /api that only Ollama has. */
export const ollama: Protocol = {
  errors: ollamaErrors,
  routes: (service) => [versionRoute, embeddingRoute(service), ...ollamaModelRoutes(service), ...generationRoutes(service)],
};
