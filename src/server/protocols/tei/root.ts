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
import { type Route, jsonRequest } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { answerBody } from "../answered-form.ts";
import { headerModel } from "../run-task.ts";
import { embedForm, sparseForm } from "./embed.ts";
import { type GenerationTask, answerTexts } from "../huggingface/answer-texts.ts";
import { isGenerationTask, taskOfManifest } from "../huggingface/answer-task.ts";
import { generationForm } from "../huggingface/generation-request.ts";
import { type HuggingFacePipelineTask, hubOptions, pipelineForms, taskOfShape } from "../huggingface/pipelines.ts";
import { modelNotHere, getModelType } from "./info.ts";
import { predictForm, teiRerankForm } from "./rank.ts";

const response = z
  .union([z.array(z.unknown()), z.record(z.string(), z.unknown())])
  .openapi({ description: "As that of /embed, /embed_sparse, /predict, /rerank, or of a pipeline" });

/** POST / and POST /invocations. */
export function rootRoutes(service: Service): Route[] {
  const own = { embed: embedForm(service), predict: predictForm(service), rerank: teiRerankForm(service) };
  const pipelines = pipelineForms(service);
  const forms = { ...own, ...pipelines, embed_sparse: sparseForm(service) };
  const documented = [...Object.values(own), ...Object.values(pipelines), generationForm(service.limits.maxTexts)];
  const request = z.union(documented.map(({ schema }) => schema)).openapi("RootRequest");
  const answer = async (context: Context<Env>): Promise<Response> => {
    const written = await jsonBody(context);
    const route = await getRoute(service, context, written);
    if (isGenerationTask(route))
      return answerTexts(service, context, written, { task: route, fullText: route === "text-generation" });
    const isPipeline = Object.hasOwn(pipelines, route);
    const body = flattened(context, written);
    return answerBody(forms[route], context, isPipeline ? written : body);
  };
  return ["/", "/invocations"].map((path) => ({
    method: "post",
    path,
    summary: "What the default model does, as text-embeddings-inference and Hugging Face's pipelines",
    request: jsonRequest(request),
    response,
    answer,
  }));
}

/**
 * The route or task whose request this is: that which its shape names, else the model decides. A text for a classifier gives a list of lists on /, as the
 * pipelines of Hugging Face's clients do; text-embeddings-inference gives one list.
 */
async function getRoute(
  service: Service,
  context: Context<Env>,
  body: unknown,
): Promise<"embed" | "embed_sparse" | "predict" | "rerank" | HuggingFacePipelineTask | GenerationTask> {
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
