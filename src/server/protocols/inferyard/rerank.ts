/** POST /api/rerank: how well texts answer a query, in the order they were given. */
import { createRoute, z } from "@hono/zod-openapi";
import { type Routes, callerOf, servedHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { name, texts } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";

const requestOf = (limit: number) =>
  z
    .strictObject({
      model: name().optional().openapi({ description: "Name of a model; left out, the server's default" }),
      query: z.string(),
      prompts: texts(limit, 1).openapi({ description: "The texts" }),
      raw: z.boolean().optional().openapi({ description: "The model's own numbers, with no activation. Default: false" }),
      truncate: z.enum(["cut", "error"]).optional().openapi({ description: "What to do with longer texts. Default: cut" }),
    })
    .openapi("InferyardRerankRequest");

const response = z
  .object({
    model: z.string(),
    scores: z.array(z.number()).openapi({ description: "One for each text, in their order" }),
    scoring: z.string().openapi({ description: "How they came about: sigmoid, softmax or none of logits, cosine, maxsim" }),
  })
  .openapi("InferyardRerankResponse");

const routeOf = (limit: number) =>
  createRoute(jsonRoute("/api/rerank", "How well texts answer a query", requestOf(limit), response, documentedErrors));

export function addRerank(routes: Routes, service: Service): void {
  routes.openapi(routeOf(service.limits.texts), async (context) => {
    const { model, query, prompts, raw, truncate } = context.req.valid("json");
    refusePairs([query], prompts);
    const options = { ...(raw === undefined ? {} : { raw }), ...(truncate === undefined ? {} : { truncate }) };
    const call = { model, texts: prompts.length, question: ["rerank", query, prompts, options] as const };
    const served = await service.call(callerOf(context), call, (handle, signal) =>
      service.runtime.rerank(query, prompts, { ...options, model: handle, signal }),
    );
    const { results, scoring } = served.result;
    const scores = [...results].sort((a, b) => a.index - b.index).map(({ score }) => score);
    return context.json({ model: served.model, scores, scoring }, 200, servedHeaders(served));
  });
}
