/** POST /v1/embed and /v2/embed of Cohere. Version 1 gives plain vectors unless the request asks for formats; version 2 always gives them by format. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import type { InferyardError } from "../../../contract/errors.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { anyList, listField, modelField, requestObject, texts } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { embedTexts } from "../embed-texts.ts";
import { type EmbeddingType, embeddingTypes, encodeVectors } from "../embedding-types.ts";
import { inputTypes } from "../input-type.ts";
import { toTruncation } from "../truncation.ts";

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const input = z.object({ content: listField(part, { min: 1, max: 16 }) });
type Input = z.infer<typeof input>;

const toRequest = (limit: number) =>
  requestObject({
    model: modelField.openapi({ example: "builtin" }),
    texts: texts(limit)
      .optional()
      .openapi({ description: "The texts; either these or `inputs`", example: ["a cat", "a dog"] }),
    inputs: listField<Input>(input, { max: limit }).optional().openapi({ description: "Texts as content, one text in each" }),
    images: anyList().optional().openapi({ description: "Not built yet: must be empty" }),
    input_type: z.enum(inputTypes).optional().openapi({
      description:
        "What the texts are for: selects the model's prompt of that use (query; document, passage or corpus; classification; clustering). Without effect on models without such prompts. image: not built yet",
      example: "search_document",
    }),
    embedding_types: z
      .array(z.enum(embeddingTypes))
      .max(embeddingTypes.length)
      .optional()
      .openapi({
        description:
          "Formats of the vectors. int8: 127 times the unit vector, rounded; uint8: the same plus 128; ubinary: one bit for each dimension, 1 for positive numbers, eight in a byte; binary: the same minus 128; base64: little-endian 32-bit floats. Default: float",
        example: ["float", "int8"],
      }),
    max_tokens: z.int().positive().optional().openapi({ description: "Maximum tokens of a text. Default: what the model reads" }),
    output_dimension: z.int().positive().optional().openapi({ description: "Number of leading dimensions to keep" }),
    truncate: z.enum(["NONE", "START", "END"]).optional().openapi({
      description: "Longer texts: END keeps their beginning, NONE refuses them; START is not built. Default: END",
    }),
    priority: z.int().optional().openapi({ description: "Accepted and ignored: see x-inferyard-priority" }),
  }).openapi("CohereEmbedRequest");

type Request = z.infer<ReturnType<typeof toRequest>>;

const numbers = z.array(z.array(z.number()));
const codes = z.array(z.array(z.int()));

const response = z
  .object({
    id: z.string(),
    response_type: z.enum(["embeddings_floats", "embeddings_by_type"]),
    embeddings: z.union([
      numbers,
      z.object({
        float: numbers.optional(),
        int8: codes.optional(),
        uint8: codes.optional(),
        binary: codes.optional(),
        ubinary: codes.optional(),
        base64: z.array(z.string()).optional(),
      }),
    ]),
    texts: z.array(z.string()),
    meta: z.object({
      api_version: z.object({ version: z.string() }),
      billed_units: z
        .object({ input_tokens: z.int() })
        .openapi({ description: "Number of tokens read, special tokens included; nothing is billed" }),
    }),
  })
  .openapi("CohereEmbeddings");

/** The route of one version of the API. */
export function cohereEmbedRoute(service: Service, version: "1" | "2"): Route {
  return post({
    path: `/v${version}/embed`,
    summary: `Embeddings of texts, as Cohere's API v${version}`,
    schema: toRequest(service.limits.maxTexts),
    description: "A vector per text",
    response,
    answer: async (request, context) => {
      const { model, input_type: use, embedding_types: types = [] } = request;
      const { max_tokens: maxTokens, output_dimension: dimensions } = request;
      const inputs = toTexts(request);
      const options = { truncate: toTruncation(request.truncate, "cut"), ...omitUndefined({ maxTokens, dimensions }) };
      const outcome = await embedTexts(service, context, { model, inputs, options, use });
      const { embeddings: vectors, tokens } = outcome.result;
      const isPlain = version === "1" && types.length === 0;
      const body = {
        id: context.get("requestId"),
        response_type: isPlain ? "embeddings_floats" : "embeddings_by_type",
        embeddings: isPlain ? vectors : await byType(vectors, types.length === 0 ? ["float"] : types),
        texts: inputs,
        meta: {
          api_version: { version },
          billed_units: { input_tokens: tokens.reduce((sum, count) => sum + count, 0) },
        },
      };
      return jsonResponse(context, body, outcome);
    },
  });
}

async function byType(
  vectors: readonly Float32Array[],
  types: readonly EmbeddingType[],
): Promise<Partial<Record<EmbeddingType, unknown>>> {
  const embeddings: Partial<Record<EmbeddingType, unknown>> = {};
  for (const type of new Set(types)) embeddings[type] = await encodeVectors(vectors, type);
  return embeddings;
}

/** The texts of the request. Throws INPUT_INVALID unless exactly one of `texts` and `inputs` has some, and for images. */
function toTexts({ texts: plain = [], inputs = [], images = [] }: Request): readonly string[] {
  if (images.length > 0) throw imagesNotBuilt("images");
  const [isPlain, isContent] = [plain.length > 0, inputs.length > 0];
  if (isPlain === isContent) {
    throw invalidInput(
      `the request has ${isPlain ? "both texts and inputs" : "neither texts nor inputs"}`,
      "send one or more texts in `texts`",
      { path: ["texts"] },
    );
  }
  return isPlain ? plain : inputs.map(toText);
}

function toText({ content }: Input, index: number): string {
  const [first, ...more] = content;
  if (content.some((one) => isObject(one) && one["type"] === "image_url")) throw imagesNotBuilt(`inputs.${index}`);
  if (first?.type === "text" && typeof first.text === "string" && more.length === 0) return first.text;
  throw invalidInput(`inputs.${index} is not one text`, 'send [{ "type": "text", "text": "..." }] as the content of each input', {
    path: ["inputs", index],
  });
}

function imagesNotBuilt(field: string): InferyardError {
  return invalidInput(`${field}: embedding images is not built yet`, "send texts");
}
