/**
 * POST /api/embed: embeddings of texts, as JSON or as a block of little-endian numbers. It is also a route of Ollama's API: requests may have the
 * fields of both, and the response has those of both.
 */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { type EmbedOptions, embedOptions } from "../../../tasks/embedding/embed-options.ts";
import { embeddingTask } from "../../../tasks/definitions.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { arrayAlternative, isObject, isText, listOf, oneOf, text, texts, requestObject } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { contextLength, ollamaFields, timingFields, timingSchemas, withoutLatest } from "../ollama/request-fields.ts";
import { applyKeepAlive } from "../ollama/keep-alive.ts";
import { refuseTokenVectors } from "../text-vectors.ts";
import { documentedErrors } from "./errors.ts";
import { optionFields, optionsFromFields, getPath } from "./task-route.ts";
import { modelField } from "./request-fields.ts";

/** Content parts as Termite has them; only texts are supported. */
const part = requestObject({ type: z.literal("text"), text: z.string() });

type Input = string | string[] | z.infer<typeof part>[];

const toRequest = (limit: number) =>
  requestObject({
    model: modelField.openapi({ example: "builtin" }),
    input: oneOf<Input>("a string, or an array of strings or of parts with a text", [
      text,
      arrayAlternative(texts(limit), isText),
      arrayAlternative(listOf(part, { max: limit }), isObject),
    ]).openapi({ description: "A text, or a list of texts or of content parts", example: "hello" }),
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

const getRoute = (limit: number) =>
  createRoute({
    method: "post",
    path: getPath(embeddingTask),
    summary: "Embeddings of texts",
    request: { body: { required: true, content: { "application/json": { schema: toRequest(limit) } } } },
    responses: {
      200: {
        description:
          "A vector per text. With `Accept: application/octet-stream`: count and dimension as u64, then the rows as f32, little-endian",
        content: { "application/json": { schema: response }, [binary]: { schema: z.string().openapi({ format: "binary" }) } },
      },
      ...documentedErrors,
    },
  } satisfies RouteConfig);

/** Adds `POST /api/embed`, which embeds texts. */
export function addEmbed(routes: Routes, service: Service): void {
  routes.openapi(getRoute(service.limits.maxTexts), async (context) => {
    const { model: written, input, truncate, options: given, keep_alive: keepAlive, ...fields } = context.req.valid("json");
    const model = withoutLatest(written);
    const texts = typeof input === "string" ? [input] : input.map((item) => (typeof item === "string" ? item : item.text));
    const options = {
      ...optionsFromFields<EmbedOptions>(embedOptions, fields),
      ...contextLength(given),
      ...(truncate === undefined ? {} : { truncate: typeof truncate === "boolean" ? truncation(truncate) : truncate }),
    };
    const call = { model, texts: texts.length, key: ["embed", texts, options] as const };
    const outcome = await service.call(getCaller(context), call, (handle, signal) =>
      service.runtime.embed(texts, { ...options, model: handle, signal }),
    );
    refuseTokenVectors(outcome.result, outcome.model);
    const { embeddings, dimensions: length, tokens } = outcome.result;
    await applyKeepAlive(service, context, { model }, keepAlive);
    const headers = resultHeaders(outcome);
    if (context.req.header("accept")?.includes(binary) === true)
      return context.body(encodeRows(embeddings, length), 200, { ...headers, "content-type": binary });
    const body = { model: outcome.model, dimensions: length, embeddings, tokens: [...tokens] };
    return jsonResponse(context, { ...body, ...timingFields(context, outcome, tokens) }, headers);
  });
}

function truncation(isCut: boolean): "cut" | "error" {
  return isCut ? "cut" : "error";
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
