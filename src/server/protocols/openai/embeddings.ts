/** POST /v1/embeddings, and the same under Azure's paths. Clients of OpenAI and Voyage request base64 by default and decode it themselves. */
import { z } from "@hono/zod-openapi";
import { partIgnorer } from "../../http/fields/take-fields.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { embedTexts } from "../embed-texts.ts";
import { type EmbeddingType, encodeVectors } from "../embedding-types.ts";
import { type VectorForm, embeddingsForm } from "./embeddings-request.ts";

const usageSchema = z.object({ prompt_tokens: z.int(), total_tokens: z.int() });

const response = z
  .object({
    object: z.literal("list"),
    data: z.array(
      z.object({
        object: z.enum(["embedding", "embedding_dict"]),
        index: z.int(),
        embedding: z
          .union([z.array(z.number()), z.string(), z.record(z.string(), z.unknown())])
          .openapi({ description: "The vector; an object by format if the request names several in a list" }),
      }),
    ),
    model: z.string(),
    usage: usageSchema.openapi({ description: "Number of tokens read, special tokens included" }),
  })
  .openapi("OpenAIEmbeddings");

/** Where the route is. In Azure's older form the path names the model, and the body's `model` is ignored, as Azure does. */
const locations = {
  "/v1/embeddings": "Embeddings of texts, as OpenAI's API",
  "/embeddings": "Embeddings of texts, as Infinity and text-embeddings-inference",
  "/api/v0/embeddings": "Embeddings of texts, as LM Studio",
  "/openai/v1/embeddings": "Embeddings of texts, as Azure OpenAI and KServe",
  "/openai/deployments/{deployment}/embeddings": "Embeddings of texts with the model that the path names, as Azure OpenAI",
};

/** `POST /v1/embeddings` and its aliases. */
export function embeddingRoutes(service: Service): Route[] {
  const source = service.tiktoken ?? (service.settings.tokenIds === "own" ? "own" : "framed");
  const form = embeddingsForm(service.limits.maxTexts);
  return Object.entries(locations).map(([path, summary]) =>
    post({
      path,
      summary,
      parameters: { deployment: "Name of a model" },
      schema: form.schema,
      description: "A vector per text",
      response,
      answer: async (request, context) => {
        const call = form.read(request, partIgnorer(context));
        const model = context.req.param("deployment") ?? call.model;
        const outcome = await embedTexts(service, context, { ...call, model, source });
        const vectors = await encodedVectors(outcome.result.embeddings, call);
        const object = call.isList ? "embedding_dict" : "embedding";
        const data = vectors.map((embedding, index) => ({ object, index, embedding }));
        const tokens = outcome.result.tokens.reduce((sum, count) => sum + count, 0);
        const usage = { prompt_tokens: tokens, total_tokens: tokens };
        return jsonResponse(context, { object: "list", data, model: outcome.model, usage }, outcome);
      },
    }),
  );
}

/** The vector of each text: in one format, or an object with all that a list names. */
async function encodedVectors(
  vectors: readonly Float32Array[],
  { formats, isList, bytes }: VectorForm,
): Promise<readonly unknown[]> {
  const encoded = await Promise.all(formats.map(async (format) => [format, await encodeVectors(vectors, format)] as const));
  if (isList) return vectors.map((_, index) => Object.fromEntries(encoded.map(([format, all]) => [format, all[index]])));
  const [[format, all] = ["float", []] as const] = encoded;
  return bytes ? all.map((vector) => base64Codes(vector, format)) : all;
}

/** Codes of 8 bits, signed or not, as the base64 of their bytes. */
function base64Codes(vector: unknown, format: EmbeddingType): string {
  const codes = vector as readonly number[];
  const bytes = format === "int8" || format === "binary" ? Int8Array.from(codes) : Uint8Array.from(codes);
  return Buffer.from(bytes.buffer).toString("base64");
}
