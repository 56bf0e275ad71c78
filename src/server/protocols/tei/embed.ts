/** POST /embed, /embed_all and /embed_sparse: a vector per text, a vector per token, or weights of vocabulary tokens. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { at, omitUndefined } from "../../../contract/checked.ts";
import type { Env } from "../../http/context.ts";
import { requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/route.ts";
import type { Service } from "../../serving/service.ts";
import { embedTexts } from "../embed-texts.ts";
import { headerModel, runTask } from "../run-task.ts";
import { tokenRows } from "../text-vectors.ts";
import {
  type EmptyObjects,
  type Inputs,
  type TruncationFields,
  emptyObjects,
  promptName,
  readTexts,
  textList,
  toInputs,
  toTruncation,
  truncationFields,
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

/** Schema of the request of /embed_sparse. */
export const sparseRequest = (limit: number): z.ZodType<SparseRequest> =>
  requestObject(getCommon(limit)).openapi("TeiEmbedSparseRequest");

/** POST /embed, /embed_all and /embed_sparse. */
export function embedRoutes(service: Service): Route[] {
  const { maxTexts } = service.limits;
  return [
    post({
      path: "/embed",
      summary: "Embeddings of texts, as text-embeddings-inference",
      body: embedRequest(maxTexts),
      response: z.array(vector),
      answer: (request, context) => answerEmbed(service, context, request),
    }),
    post({
      path: "/embed_all",
      summary: "Embeddings of every token, as text-embeddings-inference",
      body: requestObject(getCommon(maxTexts)).openapi("TeiEmbedAllRequest"),
      response: z.array(z.array(vector)),
      answer: async (request, context) => {
        const list = textList(request.inputs);
        const options = { ...readOptions(service, request), pooling: "none" as const };
        const call = { model: headerModel(context), texts: list.length, key: ["embed", list, options] as const };
        const outcome = await runTask(service, context, call, async (on) =>
          service.runtime.embed(await readTexts(service, on.model, list), { ...options, ...on }),
        );
        const { embeddings, dimensions } = outcome.result;
        const body = embeddings.map((rows) => tokenRows(rows, dimensions));
        return jsonResponse(context, body, outcome);
      },
    }),
    post({
      path: "/embed_sparse",
      summary: "Sparse embeddings (weights of vocabulary tokens), as text-embeddings-inference",
      body: sparseRequest(maxTexts),
      response: z.array(z.array(z.object({ index: z.int(), value: z.number() }))),
      answer: (request, context) => answerSparse(service, context, request),
    }),
  ];
}

/** The response to a request of /embed. `model`: the model that the path names. */
export async function answerEmbed(
  service: Service,
  context: Context<Env>,
  { normalize = true, dimensions, ...request }: EmbedRequest,
  model?: string,
): Promise<Response> {
  const inputs = textList(request.inputs);
  const options = { ...readOptions(service, request), normalize, ...omitUndefined({ dimensions }) };
  const outcome = await embedTexts(service, context, { model: headerModel(context, model), inputs, options });
  return jsonResponse(context, outcome.result.embeddings, outcome);
}

/** The response to a request of /embed_sparse. */
export async function answerSparse(service: Service, context: Context<Env>, request: SparseRequest): Promise<Response> {
  const list = textList(request.inputs);
  const options = readOptions(service, request);
  const call = { model: headerModel(context), texts: list.length, key: ["embedSparse", list, options] as const };
  const outcome = await runTask(service, context, call, async (on) =>
    service.runtime.embedSparse(await readTexts(service, on.model, list), { ...options, ...on }),
  );
  const weights = outcome.result.embeddings.map(({ indices, values }) =>
    Array.from(indices, (index, position) => ({ index, value: at(values, position) })).sort((a, b) => a.index - b.index),
  );
  return jsonResponse(context, weights, outcome);
}

/** The options that all three have. */
function readOptions(service: Service, request: SparseRequest): { readonly truncate: "cut" | "error"; readonly prompt?: string } {
  return { ...toTruncation(service, request), ...omitUndefined({ prompt: request.prompt_name }) };
}
