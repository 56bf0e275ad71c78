/**
 * POST /api/embed: embeddings of texts, as JSON or as a block of little-endian numbers. It is also a route of Ollama's API: requests may have the
 * fields of both, and the response has those of both.
 */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { EmbedMediaResult } from "../../../api/vision-requests.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { type EmbedOptions, embedOptions } from "../../../tasks/embedding/embed-options.ts";
import { embeddingTask } from "../../../tasks/definitions.ts";
import { type EmbedMediaOptions, embedMediaOptions } from "../../../tasks/vision/embed-media-options.ts";
import type { MediaInput } from "../../../tasks/vision/embed-media.ts";
import { type Env, resultHeaders } from "../../http/context.ts";
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
import { toSnakeCase } from "../../http/snake-case.ts";
import type { ModelCallResult } from "../../serving/calls.ts";
import type { Service } from "../../serving/service.ts";
import { embedTexts } from "../embed-texts.ts";
import { type WrittenKeepAlive, applyKeepAlive } from "../ollama/keep-alive.ts";
import { runTask } from "../run-task.ts";
import { contextLength, ollamaFields, timingFields, timingSchemas, withoutLatest } from "../ollama/request-fields.ts";
import { type ContentPart, contentPart, readPart } from "./pictures.ts";
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
      const parts = typeof input === "string" ? [input] : input.map((item) => (typeof item === "string" ? item : readPart(item)));
      const inputs = parts.filter((item) => typeof item === "string");
      const hasPictures = inputs.length < parts.length;
      if (hasPictures) refuseTextFields({ ...fields, truncate: given, ollamaOptions });
      const truncate = typeof given === "boolean" ? (given ? "cut" : "error") : given;
      const options = {
        ...optionsFromFields<EmbedOptions>(embedOptions, fields),
        ...contextLength(ollamaOptions),
        ...omitUndefined({ truncate }),
      };
      const outcome = hasPictures
        ? await embedParts(service, context, { model: withoutLatest(model), parts, options, keepAlive })
        : await embedTexts(service, context, { model: withoutLatest(model), inputs, options, keepAlive });
      const { embeddings, dimensions, tokens } = outcome.result;
      if (context.req.header("accept")?.includes(binary) === true)
        return context.body(encodeRows(embeddings, dimensions), 200, { ...resultHeaders(outcome), "content-type": binary });
      const body = { model: outcome.model, dimensions, embeddings, tokens };
      return jsonResponse(context, { ...body, ...timingFields(context, outcome, tokens) }, outcome);
    },
  });
}

/** Throws INPUT_INVALID for fields of texts that were sent beside pictures. */
function refuseTextFields(fields: object): void {
  const [name] = Object.entries(fields).flatMap(([field, value]) =>
    value === undefined || Object.hasOwn(embedMediaOptions, field) ? [] : [field],
  );
  if (name !== undefined)
    throw invalidInput(`"${toSnakeCase(name)}" has an effect with texts alone`, `leave "${toSnakeCase(name)}" out`);
}

/** Embeds texts and pictures in one space. */
async function embedParts(
  service: Service,
  context: Context<Env>,
  call: {
    readonly model: string | undefined;
    readonly parts: readonly MediaInput[];
    readonly options: EmbedMediaOptions;
    readonly keepAlive: WrittenKeepAlive | undefined;
  },
): Promise<ModelCallResult<EmbedMediaResult>> {
  const { model, parts, options, keepAlive } = call;
  const outcome = await runTask(service, context, { model, texts: parts.length }, (on) =>
    service.runtime.embed(parts, { ...options, ...on }),
  );
  await applyKeepAlive(service, context, outcome.resolved, keepAlive);
  return outcome;
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
