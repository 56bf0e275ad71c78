/** POST /v1/embeddings, and the same under Azure's paths. Clients of OpenAI and Voyage request base64 by default and decode it themselves. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import type { Service } from "../../serving/service.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type EmbeddingType, encodeVectors } from "../embedding-types.ts";
import { promptOfWord } from "../input-type.ts";
import { applyKeepAlive } from "../ollama/keep-alive.ts";
import { refuseTokenVectors } from "../text-vectors.ts";
import { toTexts } from "../token-input.ts";
import { toEmbedOptions, embeddingsRequest, getFormats, toInputs, getUse } from "./embeddings-request.ts";
import { documentedErrors } from "./errors.ts";

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
const locations: readonly {
  readonly path: string;
  readonly summary: string;
  readonly request?: { readonly params: z.ZodObject };
}[] = [
  { path: "/v1/embeddings", summary: "Embeddings of texts, as OpenAI's API" },
  { path: "/embeddings", summary: "Embeddings of texts, as Infinity and text-embeddings-inference" },
  { path: "/api/v0/embeddings", summary: "Embeddings of texts, as LM Studio" },
  { path: "/openai/v1/embeddings", summary: "Embeddings of texts, as Azure OpenAI and KServe" },
  {
    path: "/openai/deployments/{deployment}/embeddings",
    summary: "Embeddings of texts with the model that the path names, as Azure OpenAI",
    request: { params: z.object({ deployment: z.string().openapi({ description: "Name of a model" }) }) },
  },
];

const getRoute = ({ path, summary, request }: (typeof locations)[number], limit: number) =>
  createRoute({
    method: "post",
    path,
    summary,
    request: { ...request, body: { required: true, content: { "application/json": { schema: embeddingsRequest(limit) } } } },
    responses: {
      200: { description: "A vector per text", content: { "application/json": { schema: response } } },
      ...documentedErrors,
    },
  } satisfies RouteConfig);

/** Adds `POST /v1/embeddings` and its aliases. */
export function addEmbeddings(routes: Routes, service: Service): void {
  for (const location of locations) addEmbeddingsAt(routes, service, location);
}

function addEmbeddingsAt(routes: Routes, service: Service, location: (typeof locations)[number]): void {
  const source = service.tiktoken ?? (service.settings.tokenIds === "own" ? "own" : "framed");
  routes.openapi(getRoute(location, service.limits.maxTexts), async (context) => {
    const request = context.req.valid("json");
    const model = context.req.param("deployment") ?? request.model;
    const inputs = toInputs(request);
    const options = toEmbedOptions(request);
    const wanted = getFormats(request);
    const use = getUse(request);
    const call = {
      model,
      texts: inputs.length,
      key: ["embed", inputs, { ...options, ...omitUndefined({ use }) }] as const,
    };
    const outcome = await service.call(getCaller(context), call, async (handle, signal) => {
      const texts = await toTexts(inputs, () => service.runtime.tokenizer(handle), source);
      return service.runtime.embed(texts, { ...options, ...promptOfWord(handle.manifest, use), model: handle, signal });
    });
    refuseTokenVectors(outcome.result, outcome.model);
    await applyKeepAlive(service, context, { model }, request.ttl);
    const vectors = await encodedVectors(outcome.result.embeddings, wanted);
    const data = vectors.map((embedding, index) => ({
      object: wanted.isList ? "embedding_dict" : "embedding",
      index,
      embedding,
    }));
    const tokens = outcome.result.tokens.reduce((sum, count) => sum + count, 0);
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return jsonResponse(context, { object: "list", data, model: outcome.model, usage }, resultHeaders(outcome));
  });
}

/** The vector of each text: in one format, or an object with all that a list names. */
async function encodedVectors(
  vectors: readonly Float32Array[],
  { formats, isList, bytes }: ReturnType<typeof getFormats>,
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
