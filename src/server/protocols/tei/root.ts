/**
 * POST / and /invocations, to which clients post that were given nothing but an address: Hugging Face's clients, and SageMaker. The shape of the
 * request and the model decide what is computed: as text-embeddings-inference does (vectors, sparse vectors, labels, scores), and for the tasks that it
 * does not have as the pipelines of Hugging Face's inference API.
 */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Manifest } from "../../../models/manifest.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import { type Env, getCaller } from "../../http/context.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { jsonBody } from "../../http/json-body.ts";
import { type Route, jsonRequest } from "../../http/route.ts";
import type { Service } from "../../serving/service.ts";
import { headerModel } from "../run-task.ts";
import { answerEmbed, answerSparse, embedRequest, sparseRequest } from "./embed.ts";
import { answerPipeline } from "../huggingface/answer-pipeline.ts";
import { type GenerationTask, answerTexts } from "../huggingface/answer-texts.ts";
import { isGenerationTask, taskOfManifest } from "../huggingface/answer-task.ts";
import { generationForm } from "../huggingface/generation-request.ts";
import { type PipelineTask, hubOptions, pipelineRequests, taskOfShape } from "../huggingface/pipeline-requests.ts";
import { modelNotHere, getModelType } from "./info.ts";
import { answerPredict, answerRerank, predictRequest, rerankRequest } from "./rank.ts";

const response = z
  .union([z.array(z.unknown()), z.record(z.string(), z.unknown())])
  .openapi({ description: "As that of /embed, /embed_sparse, /predict, /rerank, or of a pipeline" });

/** POST / and POST /invocations. */
export function rootRoutes(service: Service): Route[] {
  const { maxTexts } = service.limits;
  const request = z
    .union([
      embedRequest(maxTexts),
      predictRequest(maxTexts),
      rerankRequest(maxTexts),
      ...Object.values(pipelineRequests(maxTexts)),
      generationForm(maxTexts).schema,
    ])
    .openapi("RootRequest");
  return ["/", "/invocations"].map((path) => ({
    method: "post",
    path,
    summary: "What the default model does, as text-embeddings-inference and Hugging Face's pipelines",
    request: jsonRequest(request),
    response,
    answer: async (context) => answer(service, context, await jsonBody(context)),
  }));
}

async function answer(service: Service, context: Context<Env>, written: unknown): Promise<Response> {
  const { maxTexts } = service.limits;
  const route = await getRoute(service, context, written);
  if (isGenerationTask(route))
    return answerTexts(service, context, written, { task: route, fullText: route === "text-generation" });
  const body = flattened(context, written);
  switch (route) {
    case "rerank":
      return answerRerank(service, context, takeFields(context, body, rerankRequest(maxTexts)));
    case "predict":
      return answerPredict(service, context, takeFields(context, body, predictRequest(maxTexts)));
    case "embed_sparse":
      return answerSparse(service, context, takeFields(context, body, sparseRequest(maxTexts)));
    case "embed":
      return answerEmbed(service, context, takeFields(context, body, embedRequest(maxTexts)));
    case "text-classification":
    case "token-classification":
    case "zero-shot-classification":
    case "fill-mask":
    case "question-answering":
    case "sentence-similarity":
      return answerPipeline(service, context, route, written, undefined);
  }
}

/**
 * The route or task whose request this is: that which its shape names, else the model decides. A text for a classifier gives a list of lists on /, as the
 * pipelines of Hugging Face's clients do; text-embeddings-inference gives one list.
 */
async function getRoute(
  service: Service,
  context: Context<Env>,
  body: unknown,
): Promise<"embed" | "embed_sparse" | "predict" | "rerank" | PipelineTask | GenerationTask> {
  if (isObject(body) && "query" in body && "texts" in body) return "rerank";
  const named = taskOfShape(body);
  if (named !== undefined) return named;
  const isText = isObject(body) && typeof body["inputs"] === "string" && context.req.path === "/";
  const taskOf = async (manifest: Manifest) => ({
    ...getModelType(manifest),
    task: taskOfManifest(manifest),
    sparse: manifest.text?.sparse,
  });
  const { result: type } = await service.calls.describe(getCaller(context), headerModel(context), {
    loaded: ({ manifest }) => taskOf(manifest),
    files: taskOf,
    missing: modelNotHere,
  });
  if (isGenerationTask(type.task)) return type.task;
  if (type.task === "token-classification" || (type.task === "fill-mask" && type.sparse === undefined)) return type.task;
  if ("classifier" in type) return isText ? "text-classification" : "predict";
  if ("reranker" in type) return "rerank";
  return type.embedding.pooling === "splade" ? "embed_sparse" : "embed";
}

/** The request with the members of `parameters` beside `inputs`, where Hugging Face's clients write them for some tasks, and without `options`. */
function flattened(context: Context<Env>, body: unknown): unknown {
  if (!isObject(body)) return body;
  const { parameters, options, ...rest } = body;
  if (options !== undefined && options !== null) takeFields(context, options, hubOptions, { at: ["options"] });
  return isObject(parameters) ? { ...rest, ...parameters } : { ...rest, ...omitUndefined({ parameters }) };
}
