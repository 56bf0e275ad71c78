/** The protocols that the server speaks. */
import type { Routes } from "../http/context.ts";
import type { ErrorHandler } from "../http/routes.ts";
import type { Readiness } from "../serving/readiness.ts";
import type { Service } from "../serving/service.ts";
import { handleAnthropicError } from "./anthropic/errors.ts";
import { anthropicRoutes } from "./anthropic/index.ts";
import { handleCohereError } from "./cohere/errors.ts";
import { cohereRoutes } from "./cohere/index.ts";
import { huggingFaceRoutes } from "./huggingface/index.ts";
import { infinityRoutes } from "./infinity.ts";
import { handleInferyardError } from "./inferyard/errors.ts";
import { inferyardRoutes } from "./inferyard/index.ts";
import { kserveRoutes } from "./kserve/index.ts";
import { llamaCppRoutes } from "./llamacpp/index.ts";
import { lmStudioRoutes } from "./lm-studio.ts";
import { handleOpenAiError } from "./openai/errors.ts";
import { openAiRoutes } from "./openai/index.ts";
import { handleTeiError } from "./tei/errors.ts";
import { ollamaRoutes } from "./ollama/index.ts";
import { handleTextError } from "./text-errors.ts";
import { tgiRoutes } from "./tgi.ts";
import { teiRoutes } from "./tei/index.ts";
import { vllmRoutes } from "./vllm.ts";

/** One protocol: its routes and the format of its errors. */
export interface Protocol {
  /** Paths whose errors have this protocol's format even where no route was reached, such as a body that is too large. */
  readonly paths: RegExp;
  /** Creates the routes. */
  readonly routes: (service: Service, readiness: Readiness) => Routes;
  /** Formats the errors. */
  readonly handleError: ErrorHandler;
}

/** In the order of the OpenAPI document. The first protocol whose paths match handles an error. */
export const protocols: readonly Protocol[] = [
  { paths: /^\/api\/(?:embeddings|tags|ps|show|version|chat|generate)$/, routes: ollamaRoutes, handleError: handleTextError },
  { paths: /^\/api\/v0(?:\/|$)/, routes: lmStudioRoutes, handleError: handleOpenAiError },
  { paths: /^\/api(?:\/|$)/, routes: inferyardRoutes, handleError: handleInferyardError },
  {
    paths: /^\/(?:v[12]\/(?:embed|rerank)|(?:v1\/)?reranking|v1\/ranking)$/,
    routes: cohereRoutes,
    handleError: handleCohereError,
  },
  { paths: /^\/(?:v2(?:\/|$)|v1\/models\/.+:predict$)/, routes: kserveRoutes, handleError: handleTextError },
  {
    paths: /^\/(?:hf-inference\/|pipeline\/|models\/)/,
    routes: huggingFaceRoutes,
    handleError: handleTeiError,
  },
  { paths: /^\/(?:(?:v1\/)?classify|models)$/, routes: infinityRoutes, handleError: handleOpenAiError },
  { paths: /^\/v1\/messages(?:\/|$)/, routes: anthropicRoutes, handleError: handleAnthropicError },
  { paths: /^\/(?:(?:v1|openai)(?:\/|$)|embeddings$)/, routes: openAiRoutes, handleError: handleOpenAiError },
  {
    paths: /^\/(?:completions?|infill|props|slots|apply-template|detokenize)$/,
    routes: llamaCppRoutes,
    handleError: handleOpenAiError,
  },
  { paths: /^\/version$/, routes: vllmRoutes, handleError: handleOpenAiError },
  { paths: /^\/generate(?:_stream)?$/, routes: tgiRoutes, handleError: handleTeiError },
  {
    paths: /^\/(?:invocations|embed|embed_all|embed_sparse|rerank|predict|similarity|tokenize|decode|info)?$/,
    routes: teiRoutes,
    handleError: handleTeiError,
  },
];

/** Formats an error that occurred before a route was reached, in the format of the protocol of the path; else in /api's. */
export const handleProtocolError: ErrorHandler = (thrown, context) => {
  const { handleError } = protocols.find(({ paths }) => paths.test(context.req.path)) ?? { handleError: handleInferyardError };
  return handleError(thrown, context);
};
