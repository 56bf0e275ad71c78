/** POST /api/classify: labels of texts, the model's own or the client's. */
import { createRoute, z } from "@hono/zod-openapi";
import { type Routes, callerOf, servedHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refuseHypotheses } from "../../http/pair-limits.ts";
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
        .openapi({ description: "Labels of your own, for a natural-language-inference model. Default: the model's own labels" }),
      hypothesis_template: z
        .string()
        .max(requestLimits.templateCharacters)
        .optional()
        .openapi({ description: "With `labels`. Default: This example is {}." }),
      multi_label: z.boolean().optional().openapi({ description: "With `labels`: each is judged by itself. Default: false" }),
      top_k: z.int().positive().optional().openapi({ description: "Only so many labels of each text. Default: all" }),
      truncate: z.enum(["cut", "error"]).optional().openapi({ description: "What to do with longer texts. Default: cut" }),
    })
    .openapi("ClassifyRequest");

const response = z
  .object({
    model: z.string(),
    classifications: z
      .array(z.array(z.object({ label: z.string(), score: z.number() })))
      .openapi({ description: "For each text its labels, best first" }),
  })
  .openapi("ClassifyResponse");

const routeOf = (limit: number) =>
  createRoute(jsonRoute("/api/classify", "Labels of texts", requestOf(limit), response, documentedErrors));

export function addClassify(routes: Routes, service: Service): void {
  routes.openapi(routeOf(service.limits.texts), async (context) => {
    const asked = context.req.valid("json");
    const { labels, hypothesis_template: hypothesisTemplate, multi_label: multiLabel, top_k: topK, truncate } = asked;
    const options = {
      ...(labels === undefined ? {} : { labels }),
      ...(hypothesisTemplate === undefined ? {} : { hypothesisTemplate }),
      ...(multiLabel === undefined ? {} : { multiLabel }),
      ...(topK === undefined ? {} : { topK }),
      ...(truncate === undefined ? {} : { truncate }),
    };
    if (labels !== undefined) refuseHypotheses(asked.texts, labels, hypothesisTemplate ?? "");
    // A text is judged once for each label of the client's own.
    const texts = asked.texts.length * (labels?.length ?? 1);
    const call = { model: asked.model, texts, question: ["classify", asked.texts, options] as const };
    const served = await service.call(callerOf(context), call, (handle, signal) =>
      service.runtime.classify(asked.texts, { ...options, model: handle, signal }),
    );
    const classifications = served.result.results.map((list) => list.map(({ label, score }) => ({ label, score })));
    return context.json({ model: served.model, classifications }, 200, servedHeaders(served));
  });
}
