/** POST /api/recognize: named entities in texts, with their positions. */
import { createRoute, z } from "@hono/zod-openapi";
import { at } from "../../../checked.ts";
import type { Entity } from "../../../tasks/token-classification/entities.ts";
import { type OffsetUnit, convertOffsets, offsetUnits } from "../../../tokenizers/index.ts";
import { type Routes, callerOf, resultHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { texts } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";
import { labelsField, modelField } from "./request-fields.ts";

const requestOf = (limit: number) =>
  z
    .strictObject({
      model: modelField,
      texts: texts(limit, 1),
      labels: labelsField(limit, "Entity types to find, for models with open types (GLiNER)"),
      threshold: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .openapi({ description: "With `labels`: minimum score of an entity. Default: 0.5" }),
      offsets: z.enum(offsetUnits).optional().openapi({ description: "Unit of `start` and `end`. Default: utf16" }),
    })
    .openapi("RecognizeRequest");

const entity = z.object({ text: z.string(), label: z.string(), start: z.int(), end: z.int(), score: z.number() });
const response = z
  .object({ model: z.string(), entities: z.array(z.array(entity)).openapi({ description: "Entities of each text, in order" }) })
  .openapi("RecognizeResponse");

const routeOf = (limit: number) =>
  createRoute(jsonRoute("/api/recognize", "Named entities in texts", requestOf(limit), response, documentedErrors));

/** Adds `POST /api/recognize`, which finds entities in texts. */
export function addRecognize(routes: Routes, service: Service): void {
  routes.openapi(routeOf(service.limits.maxTexts), async (context) => {
    const { model, texts, labels, threshold, offsets = "utf16" } = context.req.valid("json");
    if (labels !== undefined) refusePairs([labels.join(" ")], texts);
    const options = { ...(labels === undefined ? {} : { labels }), ...(threshold === undefined ? {} : { threshold }) };
    const call = { model, texts: texts.length, key: ["recognize", texts, options] as const };
    const outcome = await service.call(callerOf(context), call, (handle, signal) =>
      service.runtime.recognize(texts, { ...options, model: handle, signal }),
    );
    const entities = outcome.result.results.map((found, index) => entitiesOf(found, at(texts, index), offsets));
    return context.json({ model: outcome.model, entities }, 200, resultHeaders(outcome));
  });
}

function entitiesOf(found: readonly Entity[], text: string, unit: OffsetUnit): z.infer<typeof entity>[] {
  const positions = convertOffsets(Int32Array.from(found.flatMap(({ start, end }) => [start, end])), text, unit);
  return found.map(({ entityGroup, entity: tag, score, start, end }, index) => ({
    text: text.slice(start, end),
    label: entityGroup ?? tag ?? "",
    start: at(positions, 2 * index),
    end: at(positions, 2 * index + 1),
    score,
  }));
}
