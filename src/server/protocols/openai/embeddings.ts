/** POST /v1/embeddings. OpenAI's own clients ask for base64 unless told otherwise, and turn it into numbers themselves. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { type Routes, callerOf, servedHeaders } from "../../http/context.ts";
import { arrayAlternative, isNumber, isText, listOf, name, oneOf, text, texts, tokenIds } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refuseTokenVectors } from "../text-vectors.ts";
import { type TextInput, textsOf } from "../token-input.ts";
import { documentedErrors } from "./errors.ts";

const requestOf = (limit: number) =>
  z
    .strictObject({
      model: name().nullish().openapi({ description: "Name of a model; left out, the server's default", example: "builtin" }),
      input: inputOf(limit).openapi({
        description: "A text, a list of texts, or the same as token ids of the model's own tokenizer",
        example: "hello",
      }),
      encoding_format: z
        .enum(["float", "base64"])
        .nullish()
        .openapi({ description: "`base64`: little-endian 32-bit floats. Default: float" }),
      dimensions: z.int().positive().nullish().openapi({ description: "Only the first dimensions" }),
      user: name().nullish().openapi({ description: "Accepted, and changes nothing" }),
      truncate: z.enum(["cut", "error", "windows"]).optional().openapi({
        description: "Not OpenAI's: what to do with texts longer than the model reads. Default: error, as OpenAI does",
      }),
    })
    .openapi("OpenAIEmbeddingsRequest");

const usage = z.object({ prompt_tokens: z.int(), total_tokens: z.int() });

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
    usage: usage.openapi({ description: "Tokens the model read, special tokens included" }),
  })
  .openapi("OpenAIEmbeddings");

const routeOf = (limit: number) =>
  createRoute({
    method: "post",
    path: "/v1/embeddings",
    summary: "Texts to vectors, as OpenAI's API",
    request: { body: { required: true, content: { "application/json": { schema: requestOf(limit) } } } },
    responses: {
      200: { description: "A vector for each text", content: { "application/json": { schema: response } } },
      ...documentedErrors,
    },
  } satisfies RouteConfig);

export function addEmbeddings(routes: Routes, service: Service): void {
  routes.openapi(routeOf(service.limits.texts), async (context) => {
    const { model, input, encoding_format: format, dimensions, truncate = "error" } = context.req.valid("json");
    const inputs = inputsOf(input);
    const options = { ...(typeof dimensions === "number" ? { dimensions } : {}), truncate };
    const call = { model: model ?? undefined, texts: inputs.length, question: ["embed", inputs, options] as const };
    const served = await service.call(callerOf(context), call, async (handle, signal) => {
      const texts = await textsOf(inputs, () => service.runtime.tokenizer(handle));
      return service.runtime.embed(texts, { ...options, model: handle, signal });
    });
    refuseTokenVectors(served.result, served.model);
    const data = served.result.embeddings.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: format === "base64" ? base64(vector) : vector,
    }));
    const tokens = served.result.tokens.reduce((sum, count) => sum + count, 0);
    const counted = { prompt_tokens: tokens, total_tokens: tokens };
    return jsonResponse(context, { object: "list", data, model: served.model, usage: counted }, servedHeaders(served));
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

/** A list of numbers is one text. */
function inputsOf(input: Input): readonly TextInput[] {
  if (typeof input === "string") return [input];
  return isIds(input) ? [input] : input;
}

function isIds(input: readonly (string | number | readonly number[])[]): input is readonly number[] {
  return typeof input[0] === "number";
}

function base64(vector: Float32Array): string {
  // Every platform that Node.js supports with WebAssembly is little-endian.
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}
