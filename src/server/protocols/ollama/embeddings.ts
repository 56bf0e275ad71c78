/** POST /api/embeddings: the vector of one text, as older clients of Ollama ask for it. */
import { createRoute, z } from "@hono/zod-openapi";
import { at } from "../../../contract/checked.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { name, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { jsonRoute } from "../../http/json-route.ts";
import type { Service } from "../../serving/service.ts";
import { refuseTokenVectors } from "../text-vectors.ts";
import { documentedErrors } from "./errors.ts";
import { applyKeepAlive } from "./keep-alive.ts";
import { contextLength, ollamaFields, withoutLatest } from "./request-fields.ts";

const request = requestObject({
  model: name().optional().openapi({ description: "Name of a model. Default: the server's default model", example: "builtin" }),
  prompt: z.string().optional().openapi({ description: "The text. Default: none, which loads the model only" }),
  ...ollamaFields,
}).openapi("OllamaEmbeddingsRequest");

const response = z.object({ embedding: z.array(z.number()) }).openapi("OllamaEmbeddings");

const route = createRoute(
  jsonRoute("/api/embeddings", "The embedding of one text, as Ollama's older route", request, response, documentedErrors),
);

/** Adds `POST /api/embeddings`. */
export function addEmbeddings(routes: Routes, service: Service): void {
  routes.openapi(route, async (context) => {
    const { model: written, prompt = "", options: given, keep_alive: keepAlive } = context.req.valid("json");
    const model = withoutLatest(written);
    const options = contextLength(given);
    const texts = prompt === "" ? [] : [prompt];
    const call = { model, texts: texts.length, key: ["embed", texts, options] as const };
    const outcome = await service.call(getCaller(context), call, (handle, signal) =>
      service.runtime.embed(texts, { ...options, model: handle, signal }),
    );
    refuseTokenVectors(outcome.result, outcome.model);
    await applyKeepAlive(service, context, { model }, keepAlive);
    const { embeddings } = outcome.result;
    return jsonResponse(context, { embedding: texts.length === 0 ? [] : at(embeddings, 0) }, resultHeaders(outcome));
  });
}
