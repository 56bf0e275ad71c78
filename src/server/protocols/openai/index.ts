/** OpenAI's API under /v1, as far as it concerns models that read and write texts. */
import type { Protocol } from "../protocol.ts";
import { audioRoutes } from "./audio.ts";
import { batchRoutes } from "./batches/batches.ts";
import { fileRoutes } from "./batches/files.ts";
import { chatRoutes } from "./chat.ts";
import { completionRoutes } from "./completions.ts";
import { embeddingRoutes } from "./embeddings.ts";
import { openAiErrors } from "./errors.ts";
import { modelRoutes } from "./models.ts";
import { responseRoutes } from "./responses.ts";

/** The routes under /v1 except Cohere's, and their aliases. */
export const openAi: Protocol = {
  errors: openAiErrors,
  prefixes: ["/v1", "/openai"],
  routes: (service) =>
    [modelRoutes, embeddingRoutes, chatRoutes, completionRoutes, responseRoutes, audioRoutes, fileRoutes, batchRoutes].flatMap(
      (of) => of(service),
    ),
};
