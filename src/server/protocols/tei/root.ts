/**
 * POST / and /invocations, to which clients post that were given nothing but an address: Hugging Face's clients, and SageMaker. The model decides
 * what is computed, as in text-embeddings-inference: vectors, sparse vectors, labels or scores.
 */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Env, type Routes, callerOf } from "../../http/context.ts";
import { isObject, requestObject } from "../../http/field-schemas.ts";
import { jsonBody, validated } from "../../http/json-body.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { Service } from "../../serving/service.ts";
import { answerEmbed, answerSparse, embedRequest, sparseRequest } from "./embed.ts";
import { documentedErrors } from "./errors.ts";
import { modelNotHere, modelTypeOf } from "./info.ts";
import { answerPredict, answerRerank, predictRequest, rerankRequest } from "./rank.ts";

/** Options of Hugging Face's inference API, about how its servers schedule; they cannot change an answer. */
const hubOptions = requestObject({
  wait_for_model: z.boolean().optional(),
  use_cache: z.boolean().optional(),
  use_gpu: z.boolean().optional(),
  dont_load_model: z.boolean().optional(),
});

const response = z.array(z.unknown()).openapi({ description: "As that of /embed, /embed_sparse, /predict or /rerank" });

/** Adds POST / and POST /invocations. */
export function addRoot(routes: Routes, service: Service): void {
  const { maxTexts } = service.limits;
  const request = z.union([embedRequest(maxTexts), predictRequest(maxTexts), rerankRequest(maxTexts)]);
  for (const path of ["/", "/invocations"] as const) {
    const summary = "What the default model does: as /embed, /embed_sparse, /predict or /rerank of text-embeddings-inference";
    routes.openAPIRegistry.registerPath(jsonRoute(path, summary, request, response, documentedErrors));
    routes.post(path, async (context) => answer(service, context, flattened(await jsonBody(context))));
  }
}

async function answer(service: Service, context: Context<Env>, body: unknown): Promise<Response> {
  const { maxTexts } = service.limits;
  switch (await routeOf(service, context, body)) {
    case "rerank":
      return answerRerank(service, context, validated(body, rerankRequest(maxTexts)));
    case "predict":
      return answerPredict(service, context, validated(body, predictRequest(maxTexts)));
    case "embed_sparse":
      return answerSparse(service, context, validated(body, sparseRequest(maxTexts)));
    case "embed":
      return answerEmbed(service, context, validated(body, embedRequest(maxTexts)));
  }
}

/** The route whose request this is: a query with texts is ranked by any model that can, else the model decides. */
async function routeOf(
  service: Service,
  context: Context<Env>,
  body: unknown,
): Promise<"embed" | "embed_sparse" | "predict" | "rerank"> {
  if (isObject(body) && "query" in body && "texts" in body) return "rerank";
  const { result: type } = await service.describe(callerOf(context), context.req.header("x-inferyard-model"), {
    loaded: async ({ manifest }) => modelTypeOf(manifest),
    files: async (manifest) => modelTypeOf(manifest),
    missing: modelNotHere,
  });
  if ("classifier" in type) return "predict";
  if ("reranker" in type) return "rerank";
  return type.embedding.pooling === "splade" ? "embed_sparse" : "embed";
}

/** The request with the members of `parameters` beside `inputs`, where Hugging Face's clients write them for some tasks, and without `options`. */
function flattened(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { parameters, options, ...rest } = body;
  if (options !== undefined && options !== null) validated(options, hubOptions);
  return isObject(parameters) ? { ...rest, ...parameters } : { ...rest, ...(parameters === undefined ? {} : { parameters }) };
}
