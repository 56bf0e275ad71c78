/** POST /embed, /embed_all and /embed_sparse: a vector per text, a vector per token, or weights of vocabulary tokens. */
import { z } from "@hono/zod-openapi";
import { at, omitUndefined } from "../../../contract/checked.ts";
import { requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { type AnsweredForm, answeredForm } from "../answered-form.ts";
import { embedTexts } from "../embed-texts.ts";
import { headerModel, runTask } from "../run-task.ts";
import { tokenRows } from "../text-vectors.ts";
import {
  type TruncationFields,
  emptyObjects,
  promptName,
  readInputTexts,
  textList,
  toInputs,
  toTeiTruncation,
  truncationFields,
} from "./requests.ts";

const getCommon = (limit: number) => ({
  inputs: toInputs(limit),
  prompt_name: promptName,
  ...truncationFields,
  ...emptyObjects,
});
const vector = z.array(z.number());

/** Requests of /embed. */
export function embedForm(service: Service): AnsweredForm {
  const schema = requestObject({
    ...getCommon(service.limits.maxTexts),
    normalize: z.boolean().optional().openapi({ description: "Whether to scale vectors to unit length. Default: true" }),
    dimensions: z.int().positive().optional().openapi({ description: "Number of leading dimensions to keep" }),
  }).openapi("TeiEmbedRequest");
  return answeredForm(schema, async ({ normalize = true, dimensions, ...request }, context, model) => {
    const inputs = textList(request.inputs);
    const options = { ...readOptions(service, request), normalize, ...omitUndefined({ dimensions }) };
    const outcome = await embedTexts(service, context, { model: headerModel(context, model), inputs, options });
    return jsonResponse(context, outcome.result.embeddings, outcome);
  });
}

/** Requests of /embed_sparse. */
export function sparseForm(service: Service): AnsweredForm {
  const schema = requestObject(getCommon(service.limits.maxTexts)).openapi("TeiEmbedSparseRequest");
  return answeredForm(schema, async (request, context) => {
    const list = textList(request.inputs);
    const options = readOptions(service, request);
    const call = { model: headerModel(context), texts: list.length, key: ["embedSparse", list, options] as const };
    const outcome = await runTask(service, context, call, async (on) =>
      service.runtime.embedSparse(await readInputTexts(service, on.model, list), { ...options, ...on }),
    );
    const weights = outcome.result.embeddings.map(({ indices, values }) =>
      Array.from(indices, (index, position) => ({ index, value: at(values, position) })).sort((a, b) => a.index - b.index),
    );
    return jsonResponse(context, weights, outcome);
  });
}

/** Requests of /embed_all. */
function allForm(service: Service): AnsweredForm {
  const schema = requestObject(getCommon(service.limits.maxTexts)).openapi("TeiEmbedAllRequest");
  return answeredForm(schema, async (request, context) => {
    const list = textList(request.inputs);
    const options = { ...readOptions(service, request), pooling: "none" as const };
    const call = { model: headerModel(context), texts: list.length, key: ["embed", list, options] as const };
    const outcome = await runTask(service, context, call, async (on) =>
      service.runtime.embed(await readInputTexts(service, on.model, list), { ...options, ...on }),
    );
    const { embeddings, dimensions } = outcome.result;
    const rows = embeddings.map((vectors) => tokenRows(vectors, dimensions));
    return jsonResponse(context, rows, outcome);
  });
}

/** POST /embed, /embed_all and /embed_sparse. */
export function embedRoutes(service: Service): Route[] {
  const weights = z.array(z.object({ index: z.int(), value: z.number() }));
  return [
    post({
      path: "/embed",
      summary: "Embeddings of texts, as text-embeddings-inference",
      ...embedForm(service),
      response: z.array(vector),
    }),
    post({
      path: "/embed_all",
      summary: "Embeddings of every token, as text-embeddings-inference",
      ...allForm(service),
      response: z.array(z.array(vector)),
    }),
    post({
      path: "/embed_sparse",
      summary: "Sparse embeddings (weights of vocabulary tokens), as text-embeddings-inference",
      ...sparseForm(service),
      response: z.array(weights),
    }),
  ];
}

/** The options that all three have. */
function readOptions(
  service: Service,
  request: TruncationFields & { readonly prompt_name?: string | undefined },
): { readonly truncate: "cut" | "error"; readonly prompt?: string } {
  return { ...toTeiTruncation(service, request), ...omitUndefined({ prompt: request.prompt_name }) };
}
