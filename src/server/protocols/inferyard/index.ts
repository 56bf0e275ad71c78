/** Inferyard's own REST API under /api, in the form of Termite's API. */
import type { Protocol } from "../protocol.ts";
import { chunkRoute } from "./chunk.ts";
import { embedRoute } from "./embed.ts";
import { embedOutputsRoute } from "./embed-outputs.ts";
import { inferyardErrors } from "./errors.ts";
import { explainRoutes } from "./explain.ts";
import { inferyardModelRoutes } from "./models.ts";
import { reloadLibraryRoute } from "./reload-library.ts";
import { readRoute } from "./read.ts";
import { detectRoute } from "./pictures.ts";
import { rerankRoute } from "./rerank.ts";
import { classifySoundRoute, detectSpeechRoute } from "./sounds.ts";
import { transcribeRoute } from "./transcribe.ts";
import { answerRoute, classifyRoute, fillMaskRoute, recognizeRoute, rewriteRoute } from "./tasks.ts";

const taskRoutes = [
  embedRoute,
  embedOutputsRoute,
  classifyRoute,
  detectRoute,
  rerankRoute,
  recognizeRoute,
  fillMaskRoute,
  answerRoute,
  chunkRoute,
  rewriteRoute,
  readRoute,
  transcribeRoute,
  detectSpeechRoute,
  classifySoundRoute,
];

/** The routes under /api. */
export const inferyard: Protocol = {
  errors: inferyardErrors,
  prefixes: ["/api"],
  strictFields: true,
  routes: (service) => [
    ...taskRoutes.map((route) => route(service, service.limits.maxTexts)),
    ...inferyardModelRoutes(service),
    ...explainRoutes(service),
    reloadLibraryRoute(service),
  ],
};
