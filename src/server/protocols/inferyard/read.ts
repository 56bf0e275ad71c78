/** POST /api/read: the text of pictures, sent as a form with files or as JSON with data URLs. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { type Option, readOptionText } from "../../../runtime/options/option.ts";
import { type ReadPageOptions, readPageOptions } from "../../../tasks/reading/read-options.ts";
import type { ReadPage } from "../../../tasks/reading/read-page.ts";
import { readingTask } from "../../../tasks/reading/reading-task.ts";
import { isForm, readForm } from "../../http/bodies/form-body.ts";
import type { Env } from "../../http/context.ts";
import { listField, modelField, requestObject } from "../../http/field-schemas.ts";
import { takeFields } from "../../http/fields/take-fields.ts";
import { jsonBody, refuseOtherTypes } from "../../http/json-body.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { Route } from "../../http/routes/route.ts";
import { toSnakeCase } from "../../http/snake-case.ts";
import type { Service } from "../../serving/service.ts";
import { runTask } from "../run-task.ts";
import { getPath, optionFields, optionsFromFields } from "./task-route.ts";

/** The pictures of a request, and how they are read. */
interface ReadCall {
  readonly model: string | undefined;
  /** Bytes of files, or data URLs. */
  readonly pictures: readonly (Uint8Array | string)[];
  readonly options: Partial<ReadPageOptions>;
}

/** Lines of pictures of pages. */
export function readRoute(service: Service, limit: number): Route {
  const fields = { model: modelField, ...optionFields(readPageOptions, limit) };
  const image = z.object({ url: z.string().openapi({ description: "A data URL: data:image/png;base64,..." }) });
  const images = listField(image, { min: 1, max: limit }).openapi({
    description: "Pictures of pages. Addresses are not fetched",
  });
  const json = requestObject({ images, ...fields }).openapi("ReadRequest");
  const ofForm = requestObject(fields);
  const file = z
    .string()
    .openapi({ format: "binary", description: "A PNG, JPEG, WebP, GIF, TIFF or AVIF file; several are allowed" });

  const readCall = async (context: Context<Env>): Promise<ReadCall> => {
    if (isForm(context)) {
      const form = await readForm(context);
      const pictures = form.files.map(({ field, bytes }) => {
        if (field === "file") return bytes;
        throw new InferyardError("INPUT_INVALID", `the form has a file in its field "${field}"`, {
          remedy: 'name the field "file"',
        });
      });
      if (pictures.length === 0 || pictures.length > limit)
        throw new InferyardError("INPUT_INVALID", `the form has ${pictures.length} files; 1 to ${limit} are allowed`, {
          remedy: 'send each picture as a field "file", as curl -F file=@page.png does',
        });
      const { model, ...options } = takeFields(context, parseFields(form.fields), ofForm);
      return { model, pictures, options: optionsFromFields(readPageOptions, options) };
    }
    refuseOtherTypes(context);
    const { model, images: sent, ...options } = takeFields(context, await jsonBody(context), json);
    const pictures = sent.map(({ url }, index) => requireDataUrl(url, index));
    return { model, pictures, options: optionsFromFields(readPageOptions, options) };
  };

  return {
    method: "post",
    path: getPath(readingTask),
    summary: "Lines of text in pictures, with boxes",
    request: {
      body: {
        required: true,
        content: {
          "application/json": { schema: json },
          "multipart/form-data": { schema: z.object({ file, ...fields }).openapi("ReadForm") },
        },
      },
    },
    response: z.object({ model: z.string(), results: z.array(pageSchema()) }).openapi("ReadResponse"),
    answer: async (context) => {
      const { model, pictures, options } = await readCall(context);
      const outcome = await runTask(service, context, { model, texts: pictures.length }, async (on) => {
        const pages: ReadPage[] = [];
        for (const picture of pictures) pages.push(await service.runtime.read(picture, { ...options, ...on }));
        return pages;
      });
      const results = outcome.result.map(({ lines, fields: found, width, height }) => ({
        text: lines.map(({ text }) => text).join("\n"),
        lines,
        ...omitUndefined({ fields: found }),
        width,
        height,
      }));
      return jsonResponse(context, { model: outcome.model, results }, outcome);
    },
  };
}

/** Throws INPUT_INVALID for another URL: the server fetches no addresses, and reads no files of its own for clients. */
function requireDataUrl(url: string, index: number): string {
  if (url.startsWith("data:")) return url;
  throw new InferyardError("INPUT_INVALID", `images.${index}.url is not a data URL`, {
    remedy: 'send "data:image/png;base64," and the bytes of the picture in base64',
  });
}

function pageSchema(): z.ZodType {
  const box = z.array(z.array(z.number())).openapi({ description: "Corners [x, y] in pixels, clockwise from the upper left" });
  const part = { text: z.string(), score: z.number().openapi({ description: "From 0 to 1" }), box };
  const word = z.object(part);
  return z.object({
    text: z.string().openapi({ description: "All lines, separated by line breaks" }),
    lines: z
      .array(z.object({ ...part, words: z.array(word).optional() }))
      .openapi({ description: "Lines in the order of reading" }),
    fields: z.unknown().openapi({ description: "Fields of the page, with a model that reads fields (Donut)" }).optional(),
    width: z.int().openapi({ description: "Width of the picture in pixels" }),
    height: z.int(),
  });
}

/** The values of a form's fields: booleans and numbers where their option is one. A text that is neither stays, and the schema refuses it. */
function parseFields(fields: Readonly<Record<string, string>>): Record<string, unknown> {
  const parsed: Record<string, unknown> = { ...fields };
  for (const [option, { type }] of Object.entries<Option>(readPageOptions)) {
    const name = toSnakeCase(option);
    const text = fields[name];
    if (text !== undefined && text.trim() !== "") parsed[name] = readOptionText(type, text);
  }
  return parsed;
}
