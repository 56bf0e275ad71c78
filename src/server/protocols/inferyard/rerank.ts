/**
 * POST /api/rerank: relevance of texts to a query. Requests with `prompts` are ours, and get a score for each in the order of the request; those
 * with `documents` are of the form that Ollama's users ask for (ollama/ollama#11389), and get the documents best first.
 */
import { createRoute, z } from "@hono/zod-openapi";
import { InferyardError } from "../../../contract/errors.ts";
import { rerankOptions } from "../../../tasks/reranking/rerank-options.ts";
import { rerankingTask } from "../../../tasks/definitions.ts";
import { type Routes, getCaller, resultHeaders } from "../../http/context.ts";
import { jsonRoute } from "../../http/json-route.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { texts, requestObject } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { applyKeepAlive } from "../ollama/keep-alive.ts";
import { contextLength, ollamaFields, withoutLatest } from "../ollama/request-fields.ts";
import { relevanceScore } from "../relevance.ts";
import { documentedErrors } from "./errors.ts";
import { optionFields, optionsFromFields, getPath } from "./task-route.ts";
import { modelField } from "./request-fields.ts";

const toRequest = (limit: number) =>
  requestObject({
    model: modelField,
    query: z.string(),
    prompts: texts(limit, 1).optional().openapi({ description: "Texts to score, in the response in this order" }),
    documents: texts(limit, 1)
      .optional()
      .openapi({ description: "Instead of `prompts`: texts to rank, in the response best first" }),
    top_n: z.int().positive().optional().openapi({ description: "With `documents`: maximum number of results. Default: all" }),
    return_documents: z.boolean().optional().openapi({ description: "With `documents`: results contain them. Default: false" }),
    ...optionFields(rerankOptions, limit),
    ...ollamaFields,
  }).openapi("InferyardRerankRequest");

type Request = z.infer<ReturnType<typeof toRequest>>;

const scoringField = z.string().openapi({
  description: "How scores are computed: sigmoid or softmax of logits, none (raw logits), cosine, maxsim, or meanmaxsim",
});

const response = z
  .union([
    z.object({
      model: z.string(),
      scores: z.array(z.number()).openapi({ description: "Score of each text, in the order of the request" }),
      scoring: scoringField,
    }),
    z.object({
      model: z.string(),
      results: z.array(
        z.object({
          index: z.int().openapi({ description: "Index of the document in the request" }),
          relevance_score: z.number(),
          document: z.object({ text: z.string() }).optional(),
        }),
      ),
      scoring: scoringField,
    }),
  ])
  .openapi("InferyardRerankResponse");

const getRoute = (limit: number) =>
  createRoute(jsonRoute(getPath(rerankingTask), "Relevance of texts to a query", toRequest(limit), response, documentedErrors));

/** Adds `POST /api/rerank`, which scores or ranks texts by their relevance to a query. */
export function addRerank(routes: Routes, service: Service): void {
  routes.openapi(getRoute(service.limits.maxTexts), async (context) => {
    const request = context.req.valid("json");
    const { query, documents, keep_alive: keepAlive } = request;
    const list = toTexts(request);
    const model = withoutLatest(request.model);
    refusePairs([query], list);
    const limit = request.top_n === undefined ? {} : { topN: request.top_n };
    const options = { ...optionsFromFields(rerankOptions, request), ...contextLength(request.options), ...limit };
    const call = { model, texts: list.length, key: ["rerank", query, list, options] as const };
    const outcome = await service.call(getCaller(context), call, (handle, signal) =>
      service.runtime.rerank(query, list, { ...options, model: handle, signal }),
    );
    await applyKeepAlive(service, context, { model }, keepAlive);
    const { results, scoring } = outcome.result;
    if (documents === undefined) {
      const scores = [...results].sort((a, b) => a.index - b.index).map(({ score }) => score);
      return context.json({ model: outcome.model, scores, scoring }, 200, resultHeaders(outcome));
    }
    const ranked = results.map(({ index, score, text }) => ({
      index,
      relevance_score: options.raw === true ? score : relevanceScore(scoring, score),
      ...(request.return_documents === true ? { document: { text } } : {}),
    }));
    return context.json({ model: outcome.model, results: ranked, scoring }, 200, resultHeaders(outcome));
  });
}

/** The texts to rank. Throws INPUT_INVALID unless the request has either `prompts` or `documents`, and for options of the latter without them. */
function toTexts({ prompts, documents, top_n: topN, return_documents: withDocuments }: Request): readonly string[] {
  const list = prompts ?? documents;
  if (list === undefined || (prompts !== undefined && documents !== undefined)) {
    throw new InferyardError("INPUT_INVALID", `the request has ${list === undefined ? "no" : "both prompts and"} documents`, {
      remedy: "give `documents` for a ranking, or `prompts` for a score of each",
      data: { path: ["documents"] },
    });
  }
  const misplaced = topN !== undefined ? "top_n" : withDocuments !== undefined ? "return_documents" : undefined;
  if (prompts === undefined || misplaced === undefined) return list;
  throw new InferyardError("INPUT_INVALID", `${misplaced} has no effect with prompts, which all get a score`, {
    remedy: "give `documents` instead of `prompts`",
    data: { path: [misplaced] },
  });
}
