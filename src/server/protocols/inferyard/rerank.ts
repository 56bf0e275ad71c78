/** POST /api/rerank: relevance of texts to a query, in the order of the request. */
import { createRoute, z } from "@hono/zod-openapi";
import { rerankOptions } from "../../../tasks/reranking/rerank-options.ts";
import { rerankingTask } from "../../../tasks/definitions.ts";
import { type Routes, callerOf, resultHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { texts, requestObject } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { documentedErrors } from "./errors.ts";
import { optionFields, optionsFromFields, pathOf } from "./task-route.ts";
import { modelField } from "./request-fields.ts";

const requestOf = (limit: number) =>
  requestObject({
    model: modelField,
    query: z.string(),
    prompts: texts(limit, 1).openapi({ description: "Texts to score" }),
    ...optionFields(rerankOptions, limit),
  }).openapi("InferyardRerankRequest");

const response = z
  .object({
    model: z.string(),
    scores: z.array(z.number()).openapi({ description: "Score of each text, in the order of the request" }),
    scoring: z.string().openapi({
      description: "How scores are computed: sigmoid or softmax of logits, none (raw logits), cosine, maxsim, or meanmaxsim",
    }),
  })
  .openapi("InferyardRerankResponse");

const routeOf = (limit: number) =>
  createRoute(jsonRoute(pathOf(rerankingTask), "Relevance of texts to a query", requestOf(limit), response, documentedErrors));

/** Adds `POST /api/rerank`, which sorts documents by their relevance to a query. */
export function addRerank(routes: Routes, service: Service): void {
  routes.openapi(routeOf(service.limits.maxTexts), async (context) => {
    const { model, query, prompts, ...fields } = context.req.valid("json");
    refusePairs([query], prompts);
    const options = optionsFromFields(rerankOptions, fields);
    const call = { model, texts: prompts.length, key: ["rerank", query, prompts, options] as const };
    const outcome = await service.call(callerOf(context), call, (handle, signal) =>
      service.runtime.rerank(query, prompts, { ...options, model: handle, signal }),
    );
    const { results, scoring } = outcome.result;
    const scores = [...results].sort((a, b) => a.index - b.index).map(({ score }) => score);
    return context.json({ model: outcome.model, scores, scoring }, 200, resultHeaders(outcome));
  });
}
