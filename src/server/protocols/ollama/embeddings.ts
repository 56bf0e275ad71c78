/** POST /api/embeddings: the vector of one text, as older clients of Ollama ask for it. */
import { z } from "@hono/zod-openapi";
import { at } from "../../../contract/checked.ts";
import { modelField, requestObject } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { embedTexts } from "../embed-texts.ts";
import { contextLength, ollamaFields, withoutLatest } from "./request-fields.ts";

const request = requestObject({
  model: modelField.openapi({ example: "builtin" }),
  prompt: z.string().optional().openapi({ description: "The text. Default: none, which loads the model only" }),
  ...ollamaFields,
}).openapi("OllamaEmbeddingsRequest");

/** `POST /api/embeddings`. */
export function embeddingRoute(service: Service): Route {
  return post({
    path: "/api/embeddings",
    summary: "The embedding of one text, as Ollama's older route",
    schema: request,
    response: z.object({ embedding: z.array(z.number()) }).openapi("OllamaEmbeddings"),
    answer: async ({ model, prompt = "", options, keep_alive: keepAlive }, context) => {
      const inputs = prompt === "" ? [] : [prompt];
      const call = { model: withoutLatest(model), inputs, options: contextLength(options), keepAlive };
      const outcome = await embedTexts(service, context, call);
      const { embeddings } = outcome.result;
      return jsonResponse(context, { embedding: inputs.length === 0 ? [] : at(embeddings, 0) }, outcome);
    },
  });
}
