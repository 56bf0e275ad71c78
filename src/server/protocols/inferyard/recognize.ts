/** POST /api/recognize: the names in texts, with their places. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Entity } from "../../../tasks/token-classification/entities.ts";
import { type OffsetUnit, convertOffsets, offsetUnits } from "../../../tokenizers/index.ts";
import { type Routes, callerOf, servedHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { requestLimits } from "../../http/request-limits.ts";
import { listOf, name, texts } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";

const requestOf = (limit: number) =>
  z
    .strictObject({
      model: name().optional().openapi({ description: "Name of a model; left out, the server's default" }),
      texts: texts(limit, 1),
      labels: listOf(z.string().max(requestLimits.templateCharacters), { min: 1, max: limit })
        .optional()
        .openapi({ description: "What to look for, for models made for that (GLiNER)" }),
      threshold: z.number().min(0).max(1).optional().openapi({ description: "With `labels`: the least score. Default: 0.5" }),
      offsets: z.enum(offsetUnits).optional().openapi({ description: "What `start` and `end` count. Default: utf16" }),
    })
    .openapi("RecognizeRequest");

const entity = z.object({ text: z.string(), label: z.string(), start: z.int(), end: z.int(), score: z.number() });
const response = z
  .object({ model: z.string(), entities: z.array(z.array(entity)).openapi({ description: "For each text, from left to right" }) })
  .openapi("RecognizeResponse");

const routeOf = (limit: number) =>
  createRoute(jsonRoute("/api/recognize", "The names in texts", requestOf(limit), response, documentedErrors));

export function addRecognize(routes: Routes, service: Service): void {
  routes.openapi(routeOf(service.limits.texts), async (context) => {
    const { model, texts, labels, threshold, offsets = "utf16" } = context.req.valid("json");
    if (labels !== undefined) refusePairs([labels.join(" ")], texts);
    const options = { ...(labels === undefined ? {} : { labels }), ...(threshold === undefined ? {} : { threshold }) };
    const call = { model, texts: texts.length, question: ["recognize", texts, options] as const };
    const served = await service.call(callerOf(context), call, (handle, signal) =>
      service.runtime.recognize(texts, { ...options, model: handle, signal }),
    );
    const entities = served.result.results.map((found, index) => entitiesOf(found, texts[index] ?? "", offsets));
    return context.json({ model: served.model, entities }, 200, servedHeaders(served));
  });
}

function entitiesOf(found: readonly Entity[], text: string, unit: OffsetUnit): z.infer<typeof entity>[] {
  const places = convertOffsets(Int32Array.from(found.flatMap(({ start, end }) => [start, end])), text, unit);
  return found.map(({ entityGroup, entity: tag, score, start, end }, index) => ({
    text: text.slice(start, end),
    label: entityGroup ?? tag ?? "",
    start: places[2 * index] ?? 0,
    end: places[2 * index + 1] ?? 0,
    score,
  }));
}
