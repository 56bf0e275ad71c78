/** POST /api/recognize: named entities in texts, with their positions. */
import { createRoute, z } from "@hono/zod-openapi";
import { at } from "../../../contract/checked.ts";
import type { Entity } from "../../../tasks/token-classification/entities.ts";
import { recognizeOptions } from "../../../tasks/token-classification/recognize-options.ts";
import { tokenClassificationTask } from "../../../tasks/definitions.ts";
import { type OffsetUnit, convertOffsets } from "../../../tokenizers/index.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { texts, requestObject } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";
import { optionFields, optionsFromFields, getPath } from "./task-route.ts";
import { modelField } from "./request-fields.ts";

const toRequest = (limit: number) =>
  requestObject({
    model: modelField,
    texts: texts(limit, 1),
    ...optionFields(recognizeOptions, limit),
  }).openapi("RecognizeRequest");

const entity = z.object({ text: z.string(), label: z.string(), start: z.int(), end: z.int(), score: z.number() });
const response = z
  .object({ model: z.string(), entities: z.array(z.array(entity)).openapi({ description: "Entities of each text, in order" }) })
  .openapi("RecognizeResponse");

const getRoute = (limit: number) =>
  createRoute(
    jsonRoute(getPath(tokenClassificationTask), "Named entities in texts", toRequest(limit), response, documentedErrors),
  );

/** Adds `POST /api/recognize`, which finds entities in texts. */
export function addRecognize(routes: Routes, service: Service): void {
  routes.openapi(getRoute(service.limits.maxTexts), async (context) => {
    const { model, texts, ...fields } = context.req.valid("json");
    const { offsets = "utf16", ...options } = optionsFromFields(recognizeOptions, fields); // results of all units share the cache
    if (options.labels !== undefined) refusePairs([options.labels.join(" ")], texts);
    const call = { model, texts: texts.length, key: ["recognize", texts, options] as const };
    const outcome = await service.call(getCaller(context), call, (handle, signal) =>
      service.runtime.recognize(texts, { ...options, model: handle, signal }),
    );
    const entities = outcome.result.results.map((found, index) => toEntities(found, at(texts, index), offsets));
    return context.json({ model: outcome.model, entities }, 200, resultHeaders(outcome));
  });
}

function toEntities(found: readonly Entity[], text: string, unit: OffsetUnit): z.infer<typeof entity>[] {
  const positions = convertOffsets(Int32Array.from(found.flatMap(({ start, end }) => [start, end])), text, unit);
  return found.map(({ entityGroup, entity: tag, score, start, end }, index) => ({
    text: text.slice(start, end),
    label: entityGroup ?? tag ?? "",
    start: at(positions, 2 * index),
    end: at(positions, 2 * index + 1),
    score,
  }));
}
