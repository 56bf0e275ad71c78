/** POST /api/classify: labels of texts, from the model's own label set or from the client's (zero-shot classification). */
import { createRoute, z } from "@hono/zod-openapi";
import { type Routes, callerOf, resultHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refuseHypotheses } from "../../http/pair-limits.ts";
import { requestLimits } from "../../http/request-limits.ts";
import { texts } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";
import { labelsField, modelField, truncateField } from "./request-fields.ts";

const requestOf = (limit: number) =>
  z
    .strictObject({
      model: modelField,
      texts: texts(limit, 1),
      labels: labelsField(
        limit,
        "Candidate labels, for zero-shot classification with a natural-language-inference model. Default: the model's own labels",
      ),
      hypothesis_template: z
        .string()
        .max(requestLimits.templateCharacters)
        .optional()
        .openapi({ description: "With `labels`: hypothesis for a label, which replaces {}. Default: This example is {}." }),
      multi_label: z
        .boolean()
        .optional()
        .openapi({ description: "With `labels`: score each label independently. Default: false" }),
      top_k: z.int().positive().optional().openapi({ description: "Maximum number of labels per text. Default: all" }),
      truncate: truncateField,
    })
    .openapi("ClassifyRequest");

const response = z
  .object({
    model: z.string(),
    classifications: z
      .array(z.array(z.object({ label: z.string(), score: z.number() })))
      .openapi({ description: "Labels of each text, best first" }),
  })
  .openapi("ClassifyResponse");

const routeOf = (limit: number) =>
  createRoute(jsonRoute("/api/classify", "Labels of texts, with scores", requestOf(limit), response, documentedErrors));

/** Adds `POST /api/classify`, which labels texts. */
export function addClassify(routes: Routes, service: Service): void {
  routes.openapi(routeOf(service.limits.maxTexts), async (context) => {
    const request = context.req.valid("json");
    const { labels, hypothesis_template: hypothesisTemplate, multi_label: multiLabel, top_k: topK, truncate } = request;
    const options = {
      ...(labels === undefined ? {} : { labels }),
      ...(hypothesisTemplate === undefined ? {} : { hypothesisTemplate }),
      ...(multiLabel === undefined ? {} : { multiLabel }),
      ...(topK === undefined ? {} : { topK }),
      ...(truncate === undefined ? {} : { truncate }),
    };
    if (labels !== undefined) refuseHypotheses(request.texts, labels, hypothesisTemplate ?? "");
    // Zero-shot classification reads each text once per label.
    const texts = request.texts.length * (labels?.length ?? 1);
    const call = { model: request.model, texts, key: ["classify", request.texts, options] as const };
    const outcome = await service.call(callerOf(context), call, (handle, signal) =>
      service.runtime.classify(request.texts, { ...options, model: handle, signal }),
    );
    const classifications = outcome.result.results.map((list) => list.map(({ label, score }) => ({ label, score })));
    return context.json({ model: outcome.model, classifications }, 200, resultHeaders(outcome));
  });
}
