/** POST /embed, /embed_all and /embed_sparse: a vector for each text, for each token, or weights of the vocabulary. */
import { createRoute, z } from "@hono/zod-openapi";
import { InferyardError } from "../../../errors.ts";
import { type Routes, servedHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { Service } from "../../serving/service.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refuseTokenVectors } from "../text-vectors.ts";
import { documentedErrors } from "./errors.ts";
import { callModel, truncationFields, inputsOf, promptName, readTexts, textList, truncationOf } from "./requests.ts";

const commonOf = (limit: number) => ({ inputs: inputsOf(limit), prompt_name: promptName, ...truncationFields });
const vector = z.array(z.number());

const embedRoute = (limit: number) =>
  createRoute(
    jsonRoute(
      "/embed",
      "A vector for each text, as text-embeddings-inference",
      z
        .strictObject({
          ...commonOf(limit),
          normalize: z.boolean().optional().openapi({ description: "Scale vectors to unit length. Default: true" }),
          dimensions: z.int().positive().nullish().openapi({ description: "Only the first dimensions" }),
        })
        .openapi("TeiEmbedRequest"),
      z.array(vector),
      documentedErrors,
    ),
  );

const allRoute = (limit: number) =>
  createRoute(
    jsonRoute(
      "/embed_all",
      "A vector for each token, as text-embeddings-inference",
      z.strictObject(commonOf(limit)).openapi("TeiEmbedAllRequest"),
      z.array(z.array(vector)),
      documentedErrors,
    ),
  );

const sparseResponse = z.array(z.array(z.object({ index: z.int(), value: z.number() })));
const sparseRoute = (limit: number) =>
  createRoute(
    jsonRoute(
      "/embed_sparse",
      "Weights of vocabulary tokens, as text-embeddings-inference",
      z.strictObject(commonOf(limit)).openapi("TeiEmbedSparseRequest"),
      sparseResponse,
      documentedErrors,
    ),
  );

export function addEmbed(routes: Routes, service: Service): void {
  routes.openapi(embedRoute(service.limits.texts), async (context) => {
    const { normalize = true, dimensions, ...asked } = context.req.valid("json");
    const list = textList(asked.inputs);
    const options = {
      ...truncationOf(asked),
      ...promptOf(asked.prompt_name),
      normalize,
      ...(typeof dimensions === "number" ? { dimensions } : {}),
    };
    const served = await callModel(service, context, list.length, ["embed", list, options], async (handle, signal) =>
      service.runtime.embed(await readTexts(service, handle, list), { ...options, model: handle, signal }),
    );
    refuseTokenVectors(served.result, served.model);
    return jsonResponse(context, served.result.embeddings, servedHeaders(served));
  });
}

export function addEmbedAll(routes: Routes, service: Service): void {
  routes.openapi(allRoute(service.limits.texts), async (context) => {
    const asked = context.req.valid("json");
    const list = textList(asked.inputs);
    const options = { ...truncationOf(asked), ...promptOf(asked.prompt_name), pooling: "none" as const };
    const served = await callModel(service, context, list.length, ["embed", list, options], async (handle, signal) =>
      service.runtime.embed(await readTexts(service, handle, list), { ...options, model: handle, signal }),
    );
    const { embeddings, dimensions } = served.result;
    return jsonResponse(
      context,
      embeddings.map((rows) => tokenRows(rows, dimensions)),
      servedHeaders(served),
    );
  });
}

export function addEmbedSparse(routes: Routes, service: Service): void {
  routes.openapi(sparseRoute(service.limits.texts), async (context) => {
    const asked = context.req.valid("json");
    refusePrompt(asked.prompt_name);
    const list = textList(asked.inputs);
    const cutting = truncationOf(asked);
    const served = await callModel(service, context, list.length, ["embedSparse", list, cutting], async (handle, signal) =>
      service.runtime.embedSparse(await readTexts(service, handle, list), { ...cutting, model: handle, signal }),
    );
    const weights = served.result.embeddings.map(({ indices, values }) =>
      Array.from(indices, (index, place) => ({ index, value: values[place] ?? 0 })).sort((a, b) => a.index - b.index),
    );
    return jsonResponse(context, weights, servedHeaders(served));
  });
}

function promptOf(name: string | null | undefined): { readonly prompt?: string } {
  return typeof name === "string" ? { prompt: name } : {};
}

function refusePrompt(name: string | null | undefined): void {
  if (typeof name !== "string") return;
  throw new InferyardError("INPUT_INVALID", "sparse embeddings take no prompt", { remedy: "leave prompt_name out" });
}

/** Vectors of tokens that lie one after the other. */
function tokenRows(rows: Float32Array, dimensions: number): Float32Array[] {
  return Array.from({ length: rows.length / dimensions }, (_row, token) =>
    rows.subarray(token * dimensions, (token + 1) * dimensions),
  );
}
