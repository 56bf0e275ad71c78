/** POST /embed, /embed_all and /embed_sparse: a vector per text, a vector per token, or weights of vocabulary tokens. */
import { createRoute, z } from "@hono/zod-openapi";
import { at, omitUndefined } from "../../../contract/checked.ts";
import { requestObject } from "../../http/field-schemas.ts";
import type { Context } from "hono";
import { type Env, type Routes, resultHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { Service } from "../../serving/service.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refuseTokenVectors, tokenRows } from "../text-vectors.ts";
import { documentedErrors } from "./errors.ts";
import {
  type EmptyObjects,
  type Inputs,
  type TruncationFields,
  callModel,
  emptyObjects,
  truncationFields,
  toInputs,
  promptName,
  readTexts,
  textList,
  toTruncation,
} from "./requests.ts";

const getCommon = (limit: number) => ({
  inputs: toInputs(limit),
  prompt_name: promptName,
  ...truncationFields,
  ...emptyObjects,
});
const vector = z.array(z.number());

/** Request of /embed_sparse. */
export interface SparseRequest extends TruncationFields, EmptyObjects {
  readonly inputs: Inputs;
  readonly prompt_name?: string | undefined;
}

/** Request of /embed. */
export interface EmbedRequest extends SparseRequest {
  readonly normalize?: boolean | undefined;
  readonly dimensions?: number | undefined;
}

/** Schema of the request of /embed. */
export const embedRequest = (limit: number): z.ZodType<EmbedRequest> =>
  requestObject({
    ...getCommon(limit),
    normalize: z.boolean().optional().openapi({ description: "Whether to scale vectors to unit length. Default: true" }),
    dimensions: z.int().positive().optional().openapi({ description: "Number of leading dimensions to keep" }),
  }).openapi("TeiEmbedRequest");

const embedRoute = (limit: number) =>
  createRoute(
    jsonRoute(
      "/embed",
      "Embeddings of texts, as text-embeddings-inference",
      embedRequest(limit),
      z.array(vector),
      documentedErrors,
    ),
  );

const allRoute = (limit: number) =>
  createRoute(
    jsonRoute(
      "/embed_all",
      "Embeddings of every token, as text-embeddings-inference",
      requestObject(getCommon(limit)).openapi("TeiEmbedAllRequest"),
      z.array(z.array(vector)),
      documentedErrors,
    ),
  );

const sparseResponse = z.array(z.array(z.object({ index: z.int(), value: z.number() })));
/** Schema of the request of /embed_sparse. */
export const sparseRequest = (limit: number): z.ZodType<SparseRequest> =>
  requestObject(getCommon(limit)).openapi("TeiEmbedSparseRequest");

const sparseRoute = (limit: number) =>
  createRoute(
    jsonRoute(
      "/embed_sparse",
      "Sparse embeddings (weights of vocabulary tokens), as text-embeddings-inference",
      sparseRequest(limit),
      sparseResponse,
      documentedErrors,
    ),
  );

/** Adds POST /embed. */
export function addEmbed(routes: Routes, service: Service): void {
  routes.openapi(embedRoute(service.limits.maxTexts), (context) => answerEmbed(service, context, context.req.valid("json")));
}

/** The response to a request of /embed. `model`: the model that the path names. */
export async function answerEmbed(
  service: Service,
  context: Context<Env>,
  { normalize = true, dimensions, ...request }: EmbedRequest,
  model?: string,
): Promise<never> {
  const list = textList(request.inputs);
  const options = {
    ...toTruncation(service, request),
    ...toPrompt(request.prompt_name),
    normalize,
    ...omitUndefined({ dimensions }),
  };
  const outcome = await callModel(
    service,
    context,
    list.length,
    ["embed", list, options],
    async (handle, signal) =>
      service.runtime.embed(await readTexts(service, handle, list), { ...options, model: handle, signal }),
    model,
  );
  refuseTokenVectors(outcome.result, outcome.model);
  return jsonResponse(context, outcome.result.embeddings, resultHeaders(outcome));
}

/** Adds POST /embed_all. */
export function addEmbedAll(routes: Routes, service: Service): void {
  routes.openapi(allRoute(service.limits.maxTexts), async (context) => {
    const request = context.req.valid("json");
    const list = textList(request.inputs);
    const options = { ...toTruncation(service, request), ...toPrompt(request.prompt_name), pooling: "none" as const };
    const outcome = await callModel(service, context, list.length, ["embed", list, options], async (handle, signal) =>
      service.runtime.embed(await readTexts(service, handle, list), { ...options, model: handle, signal }),
    );
    const { embeddings, dimensions } = outcome.result;
    return jsonResponse(
      context,
      embeddings.map((rows) => tokenRows(rows, dimensions)),
      resultHeaders(outcome),
    );
  });
}

/** Adds POST /embed_sparse. */
export function addEmbedSparse(routes: Routes, service: Service): void {
  routes.openapi(sparseRoute(service.limits.maxTexts), (context) => answerSparse(service, context, context.req.valid("json")));
}

/** The response to a request of /embed_sparse. */
export async function answerSparse(service: Service, context: Context<Env>, request: SparseRequest): Promise<never> {
  const list = textList(request.inputs);
  const options = { ...toTruncation(service, request), ...toPrompt(request.prompt_name) };
  const outcome = await callModel(service, context, list.length, ["embedSparse", list, options], async (handle, signal) =>
    service.runtime.embedSparse(await readTexts(service, handle, list), { ...options, model: handle, signal }),
  );
  const weights = outcome.result.embeddings.map(({ indices, values }) =>
    Array.from(indices, (index, position) => ({ index, value: at(values, position) })).sort((a, b) => a.index - b.index),
  );
  return jsonResponse(context, weights, resultHeaders(outcome));
}

function toPrompt(name: string | undefined): { readonly prompt?: string } {
  return name === undefined ? {} : { prompt: name };
}
