/** POST /api/embed: texts to vectors, as JSON or as one block of little-endian numbers. */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { type Routes, callerOf, servedHeaders } from "../../http/context.ts";
import { arrayAlternative, isObject, isText, listOf, name, oneOf, text, texts } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refuseTokenVectors } from "../text-vectors.ts";
import { documentedErrors } from "./errors.ts";

/** Termite's content parts; those of images are refused until there are models for them. */
const part = z.strictObject({ type: z.literal("text"), text: z.string() });

type Input = string | string[] | z.infer<typeof part>[];

const requestOf = (limit: number) =>
  z
    .strictObject({
      model: name().optional().openapi({ description: "Name of a model; left out, the server's default", example: "builtin" }),
      input: oneOf<Input>("a string, or an array of strings or of parts with a text", [
        text,
        arrayAlternative(texts(limit), isText),
        arrayAlternative(listOf(part, { max: limit }), isObject),
      ]).openapi({ description: "A text, or a list of texts or of parts with a text", example: "hello" }),
      prompt: name().optional().openapi({ description: "Name of a prompt of the model, put before every text" }),
      dimensions: z.int().positive().optional().openapi({ description: "Only the first dimensions" }),
      truncate: z
        .union([z.enum(["cut", "error", "windows"]), z.boolean()])
        .optional()
        .openapi({ description: "What to do with texts longer than the model reads; true: cut, false: error. Default: cut" }),
    })
    .openapi("EmbedRequest");

const response = z
  .object({
    model: z.string(),
    dimensions: z.int(),
    embeddings: z.array(z.array(z.number())),
    tokens: z.array(z.int()).openapi({ description: "Tokens the model saw of each text" }),
  })
  .openapi("EmbedResponse");

const binary = "application/octet-stream";

const routeOf = (limit: number) =>
  createRoute({
    method: "post",
    path: "/api/embed",
    summary: "Texts to vectors",
    request: { body: { required: true, content: { "application/json": { schema: requestOf(limit) } } } },
    responses: {
      200: {
        description:
          "A vector for each text. With `Accept: application/octet-stream`: count and dimension as u64, then the rows as f32, little-endian",
        content: { "application/json": { schema: response }, [binary]: { schema: z.string().openapi({ format: "binary" }) } },
      },
      ...documentedErrors,
    },
  } satisfies RouteConfig);

export function addEmbed(routes: Routes, service: Service): void {
  routes.openapi(routeOf(service.limits.texts), async (context) => {
    const { model, input, prompt, dimensions, truncate } = context.req.valid("json");
    const texts = typeof input === "string" ? [input] : input.map((item) => (typeof item === "string" ? item : item.text));
    const options = {
      ...(prompt === undefined ? {} : { prompt }),
      ...(dimensions === undefined ? {} : { dimensions }),
      ...(truncate === undefined ? {} : { truncate: typeof truncate === "boolean" ? cutting(truncate) : truncate }),
    };
    const call = { model, texts: texts.length, question: ["embed", texts, options] as const };
    const served = await service.call(callerOf(context), call, (handle, signal) =>
      service.runtime.embed(texts, { ...options, model: handle, signal }),
    );
    refuseTokenVectors(served.result, served.model);
    const { embeddings, dimensions: length, tokens } = served.result;
    const headers = servedHeaders(served);
    if (context.req.header("accept")?.includes(binary) === true)
      return context.body(block(embeddings, length), 200, { ...headers, "content-type": binary });
    return jsonResponse(context, { model: served.model, dimensions: length, embeddings, tokens: [...tokens] }, headers);
  });
}

function cutting(isCut: boolean): "cut" | "error" {
  return isCut ? "cut" : "error";
}

/** u64 count, u64 dimension, f32 rows; little-endian. */
function block(rows: readonly Float32Array[], dimensions: number): ArrayBuffer {
  const buffer = new ArrayBuffer(16 + rows.length * dimensions * 4);
  const view = new DataView(buffer);
  view.setBigUint64(0, BigInt(rows.length), true);
  view.setBigUint64(8, BigInt(dimensions), true);
  for (const [row, vector] of rows.entries())
    for (const [column, value] of vector.entries()) view.setFloat32(16 + (row * dimensions + column) * 4, value, true);
  return buffer;
}
