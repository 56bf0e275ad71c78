/**
 * POST /api/embed: embeddings of texts, as JSON or as a block of little-endian numbers. It is also a route of Ollama's API: requests may have the
 * fields of both, and the response has those of both.
 */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { type EmbedOptions, embedOptions } from "../../../tasks/embedding/embed-options.ts";
import { embeddingTask } from "../../../tasks/definitions.ts";
import { resultHeaders } from "../../http/context.ts";
import {
  arrayAlternative,
  isText,
  listField,
  modelField,
  oneOfFields,
  requestObject,
  textField,
  texts,
} from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { embedTexts } from "../embed-texts.ts";
import { contextLength, ollamaFields, timingFields, timingSchemas, withoutLatest } from "../ollama/request-fields.ts";
import { type ContentPart, contentPart, readPart } from "../media/content-parts.ts";
import { getPath, optionFields, optionsFromFields } from "./task-route.ts";

type Input = string | string[] | ContentPart[];

const toRequest = (limit: number) =>
  requestObject({
    model: modelField.openapi({ example: "builtin" }),
    input: oneOfFields<Input>("a string, or an array of strings or of parts", [
      textField,
      arrayAlternative(texts(limit), isText),
      arrayAlternative(listField(contentPart, { max: limit }), isObject),
    ]).openapi({ description: "A text, or a list of texts or of content parts: texts and pictures", example: "hello" }),
    ...optionFields(embedOptions, limit),
    truncate: z
      .union([z.enum(["cut", "error", "windows"]), z.boolean()])
      .optional()
      .openapi({ description: "What to do with texts longer than the model reads; true: cut, false: error. Default: cut" }),
    ...ollamaFields,
  }).openapi("EmbedRequest");

const response = z
  .object({
    model: z.string(),
    dimensions: z.int(),
    embeddings: z.array(z.array(z.number())),
    tokens: z.array(z.int()).openapi({ description: "Number of tokens read of each text" }),
    ...timingSchemas,
  })
  .openapi("EmbedResponse");

const binary = "application/octet-stream";

/** Embeddings of texts. */
export function embedRoute(service: Service, limit: number): Route {
  return post({
    path: getPath(embeddingTask),
    summary: "Embeddings of texts",
    schema: toRequest(limit),
    description:
      "A vector per text. With `Accept: application/octet-stream`: count and dimension as u64, then the rows as f32, little-endian",
    response,
    media: { [binary]: z.string().openapi({ format: "binary" }) },
    answer: async ({ model, input, truncate: given, options: ollamaOptions, keep_alive: keepAlive, ...fields }, context) => {
      const inputs =
        typeof input === "string"
          ? [input]
          : input.map((item, index) => (typeof item === "string" ? item : readPart(item, `input.${index}`)));
      const truncate = typeof given === "boolean" ? (given ? "cut" : "error") : given;
      const options = {
        ...optionsFromFields<EmbedOptions>(embedOptions, fields),
        ...contextLength(ollamaOptions),
        ...omitUndefined({ truncate }),
      };
      const outcome = await embedTexts(service, context, { model: withoutLatest(model), inputs, options, keepAlive });
      const { embeddings, dimensions, tokens } = outcome.result;
      if (context.req.header("accept")?.includes(binary) === true)
        return context.body(encodeRows(embeddings, dimensions), 200, { ...resultHeaders(outcome), "content-type": binary });
      const body = { model: outcome.model, dimensions, embeddings, tokens };
      return jsonResponse(context, { ...body, ...timingFields(context, outcome, tokens) }, outcome);
    },
  });
}

/** The binary response: count and dimension as u64, then the rows as f32, little-endian. */
function encodeRows(rows: readonly Float32Array[], dimensions: number): ArrayBuffer {
  const buffer = new ArrayBuffer(16 + rows.length * dimensions * 4);
  const view = new DataView(buffer);
  view.setBigUint64(0, BigInt(rows.length), true);
  view.setBigUint64(8, BigInt(dimensions), true);
  for (const [row, vector] of rows.entries())
    for (const [column, value] of vector.entries()) view.setFloat32(16 + (row * dimensions + column) * 4, value, true);
  return buffer;
}
