/** POST /v1/embed and /v2/embed of Cohere, for texts and pictures. Version 1 gives plain vectors unless the request asks for formats; version 2 always gives them by format. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { listField, modelField, oneOfFields, requestObject, texts } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { embedTexts } from "../embed-texts.ts";
import { type EmbeddingType, embeddingTypes, encodeVectors } from "../embedding-types.ts";
import { inputTypes } from "../input-type.ts";
import { type ContentPart, type PictureInput, contentPart, readPart } from "../media/content-parts.ts";
import { pictureOfUrl } from "../media/picture-url.ts";
import { toTruncation } from "../truncation.ts";

const part: z.ZodType<ContentPart> = oneOfFields<ContentPart>("an object of the type text or image_url", [
  { schema: contentPart, fits: (one) => isObject(one) && (one["type"] === "text" || one["type"] === "image_url") },
]);
const input = z.object({ content: listField(part, { min: 1, max: 16 }) });
type Input = z.infer<typeof input>;

const toRequest = (limit: number) =>
  requestObject({
    model: modelField.openapi({ example: "builtin" }),
    texts: texts(limit)
      .optional()
      .openapi({ description: "The texts; either these, `images` or `inputs`", example: ["a cat", "a dog"] }),
    inputs: listField<Input>(input, { max: limit })
      .optional()
      .openapi({ description: "Texts and pictures as content: one text, or one picture as data URL, in each" }),
    images: texts(limit).optional().openapi({ description: "Pictures as data URLs. Addresses are not fetched" }),
    input_type: z.enum(inputTypes).optional().openapi({
      description:
        "What the texts are for: selects the model's prompt of that use (query; document, passage or corpus; classification; clustering). Without effect on models without such prompts. image: all inputs are pictures",
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
        .object({ input_tokens: z.int(), images: z.int().optional() })
        .openapi({ description: "Number of tokens read, special tokens included, and of pictures; nothing is billed" }),
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
      const inputs = toInputs(request);
      const sent = inputs.filter((one) => typeof one === "string");
      const options = { truncate: toTruncation(request.truncate, "cut"), ...omitUndefined({ maxTokens, dimensions }) };
      const outcome = await embedTexts(service, context, { model, inputs, options, use: use === "image" ? undefined : use });
      const { embeddings: vectors, tokens } = outcome.result;
      const isPlain = version === "1" && types.length === 0;
      const body = {
        id: context.get("requestId"),
        response_type: isPlain ? "embeddings_floats" : "embeddings_by_type",
        embeddings: isPlain ? vectors : await byType(vectors, types.length === 0 ? ["float"] : types),
        texts: sent,
        meta: {
          api_version: { version },
          billed_units: {
            input_tokens: tokens.reduce((sum, count) => sum + count, 0),
            ...(sent.length === inputs.length ? {} : { images: inputs.length - sent.length }),
          },
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

/**
 * The texts and pictures of the request. Throws INPUT_INVALID unless exactly one of `texts`, `images` and `inputs` has some, for an input with several parts, and
 * for texts where `input_type` says that all are pictures.
 */
function toInputs({ texts: plain = [], inputs = [], images = [], input_type: use }: Request): readonly (string | PictureInput)[] {
  const given = Object.entries({ texts: plain, images, inputs }).flatMap(([field, list]) => (list.length > 0 ? [field] : []));
  if (given.length !== 1) {
    const what = given.length === 0 ? "neither texts nor inputs nor images" : `both ${given.join(" and ")}`;
    throw invalidInput(`the request has ${what}`, "send one or more texts in `texts`, or pictures in `images`", {
      path: ["texts"],
    });
  }
  const read = [
    ...plain,
    ...images.map((url, index) => ({ image: pictureOfUrl(url, `images.${index}`) })),
    ...inputs.map(toInput),
  ];
  const text = read.findIndex((one) => typeof one === "string");
  if (use === "image" && text !== -1)
    throw invalidInput(
      `input_type "image" is for pictures, and ${given[0]}.${text} is a text`,
      'send texts with input_type "search_document" or "search_query"',
      { path: ["input_type"] },
    );
  return read;
}

function toInput({ content }: Input, index: number): string | PictureInput {
  const [first, ...more] = content;
  if (first !== undefined && more.length === 0) return readPart(first, `inputs.${index}.content.0`);
  throw invalidInput(
    `inputs.${index} has ${content.length} parts, and models here give one vector for one text or one picture`,
    'send one part in the content of each input: { "type": "text", "text": "..." }, or { "type": "image_url", "image_url": { "url": "data:..." } }',
    { path: ["inputs", index] },
  );
}
