/** POST /v1/embeddings, and the same under Azure's paths. OpenAI's clients request base64 by default and decode it themselves. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { type Routes, callerOf, resultHeaders } from "../../http/context.ts";
import {
  arrayAlternative,
  isNumber,
  isText,
  listOf,
  name,
  oneOf,
  text,
  texts,
  tokenIds,
  requestObject,
} from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { base64Floats, refuseTokenVectors } from "../text-vectors.ts";
import { type TextInput, textsOf } from "../token-input.ts";
import { documentedErrors } from "./errors.ts";

const requestOf = (limit: number) =>
  requestObject({
    model: name().optional().openapi({ description: "Name of a model. Default: the server's default model", example: "builtin" }),
    input: inputOf(limit).openapi({
      description:
        "A text, a list of texts, or either as token ids: with the special tokens of the model's own tokenizer around them, or as the server's setting tokenIds says",
      example: "hello",
    }),
    encoding_format: z
      .enum(["float", "base64"])
      .optional()
      .openapi({ description: "`base64`: little-endian 32-bit floats. Default: float" }),
    dimensions: z.int().positive().optional().openapi({ description: "Number of leading dimensions to keep" }),
    user: name().optional().openapi({ description: "Accepted and ignored" }),
    truncate: z.enum(["cut", "error", "windows"]).optional().openapi({
      description: "Extension: what to do with texts longer than the model reads. Default: error, as with OpenAI",
    }),
  }).openapi("OpenAIEmbeddingsRequest");

const usageSchema = z.object({ prompt_tokens: z.int(), total_tokens: z.int() });

const response = z
  .object({
    object: z.literal("list"),
    data: z.array(
      z.object({
        object: z.literal("embedding"),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
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
  { path: "/openai/v1/embeddings", summary: "Embeddings of texts, as Azure OpenAI and KServe" },
  {
    path: "/openai/deployments/{deployment}/embeddings",
    summary: "Embeddings of texts with the model that the path names, as Azure OpenAI",
    request: { params: z.object({ deployment: z.string().openapi({ description: "Name of a model" }) }) },
  },
];

const routeOf = ({ path, summary, request }: (typeof locations)[number], limit: number) =>
  createRoute({
    method: "post",
    path,
    summary,
    request: { ...request, body: { required: true, content: { "application/json": { schema: requestOf(limit) } } } },
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
  routes.openapi(routeOf(location, service.limits.maxTexts), async (context) => {
    const { model: written, input, encoding_format: format, dimensions, truncate = "error" } = context.req.valid("json");
    const model = context.req.param("deployment") ?? written;
    const inputs = inputsOf(input);
    const options = { ...(dimensions === undefined ? {} : { dimensions }), truncate };
    const call = { model, texts: inputs.length, key: ["embed", inputs, options] as const };
    const outcome = await service.call(callerOf(context), call, async (handle, signal) => {
      const texts = await textsOf(inputs, () => service.runtime.tokenizer(handle), source);
      return service.runtime.embed(texts, { ...options, model: handle, signal });
    });
    refuseTokenVectors(outcome.result, outcome.model);
    const data = outcome.result.embeddings.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: format === "base64" ? base64Floats(vector) : vector,
    }));
    const tokens = outcome.result.tokens.reduce((sum, count) => sum + count, 0);
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return jsonResponse(context, { object: "list", data, model: outcome.model, usage }, resultHeaders(outcome));
  });
}

type Input = string | string[] | number[] | number[][];

function inputOf(limit: number): z.ZodType<Input> {
  return oneOf<Input>("a string, or an array of strings, of token ids, or of arrays of token ids", [
    text,
    arrayAlternative(texts(limit, 1), isText),
    arrayAlternative(tokenIds(1), isNumber),
    arrayAlternative(listOf(tokenIds(1), { min: 1, max: limit }), Array.isArray),
  ]);
}

/** The inputs as a list; an array of numbers is one text. */
function inputsOf(input: Input): readonly TextInput[] {
  if (typeof input === "string") return [input];
  return isIds(input) ? [input] : input;
}

function isIds(input: readonly (string | number | readonly number[])[]): input is readonly number[] {
  return typeof input[0] === "number";
}
