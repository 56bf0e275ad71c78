/** POST /api/classify: labels of texts, from the model's own label set or from the client's (zero-shot classification). */
import { createRoute, z } from "@hono/zod-openapi";
import { classifyOptions } from "../../../tasks/classification/classify-options.ts";
import { textClassificationTask } from "../../../tasks/definitions.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refuseHypotheses } from "../../http/pair-limits.ts";
import { texts, requestObject } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";
import { optionFields, optionsFromFields, getPath } from "./task-route.ts";
import { modelField } from "./request-fields.ts";

const toRequest = (limit: number) =>
  requestObject({
    model: modelField,
    texts: texts(limit, 1),
    ...optionFields(classifyOptions, limit),
  }).openapi("ClassifyRequest");

const response = z
  .object({
    model: z.string(),
    classifications: z
      .array(z.array(z.object({ label: z.string(), score: z.number() })))
      .openapi({ description: "Labels of each text, best first" }),
  })
  .openapi("ClassifyResponse");

const getRoute = (limit: number) =>
  createRoute(
    jsonRoute(getPath(textClassificationTask), "Labels of texts, with scores", toRequest(limit), response, documentedErrors),
  );

/** Adds `POST /api/classify`, which labels texts. */
export function addClassify(routes: Routes, service: Service): void {
  routes.openapi(getRoute(service.limits.maxTexts), async (context) => {
    const request = context.req.valid("json");
    const options = optionsFromFields(classifyOptions, request);
    const { labels, hypothesisTemplate = "" } = options;
    if (labels !== undefined) refuseHypotheses(request.texts, labels, hypothesisTemplate);
    // Zero-shot classification reads each text once per label.
    const texts = request.texts.length * (labels?.length ?? 1);
    const call = { model: request.model, texts, key: ["classify", request.texts, options] as const };
    const outcome = await service.call(getCaller(context), call, (handle, signal) =>
      service.runtime.classify(request.texts, { ...options, model: handle, signal }),
    );
    const classifications = outcome.result.results.map((list) => list.map(({ label, score }) => ({ label, score })));
    return context.json({ model: outcome.model, classifications }, 200, resultHeaders(outcome));
  });
}
