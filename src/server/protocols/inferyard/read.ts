/** POST /api/read: the text of pictures, sent as a form with files or as JSON with data URLs. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { readPageOptions } from "../../../tasks/reading/read-options.ts";
import type { ReadPage } from "../../../tasks/reading/read-page.ts";
import { readingTask } from "../../../tasks/reading/reading-task.ts";
import { jsonResponse } from "../../http/json-response.ts";
import type { Route } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { pictureRequests } from "../media/media-requests.ts";
import { runTask } from "../run-task.ts";
import { getPath } from "./task-route.ts";

/** Lines of pictures of pages. */
export function readRoute(service: Service, limit: number): Route {
  const { request, read } = pictureRequests({ name: "Read", options: readPageOptions, limit });
  return {
    method: "post",
    path: getPath(readingTask),
    summary: "Lines of text in pictures, with boxes",
    request,
    response: z.object({ model: z.string(), results: z.array(pageSchema()) }).openapi("ReadResponse"),
    answer: async (context) => {
      const { model, files, options } = await read(context);
      const outcome = await runTask(service, context, { model, texts: files.length }, async (on) => {
        const pages: ReadPage[] = [];
        for (const picture of files) pages.push(await service.runtime.read(picture, { ...options, ...on }));
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
