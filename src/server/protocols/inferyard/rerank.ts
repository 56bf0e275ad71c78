/**
 * POST /api/rerank: relevance of texts to a query. Requests with `prompts` are ours, and get a score for each in the order of the request; those
 * with `documents` are of the form that Ollama's users ask for (ollama/ollama#11389), and get the documents best first.
 */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { rerankOptions } from "../../../tasks/reranking/rerank-options.ts";
import { rerankingTask } from "../../../tasks/definitions.ts";
import { modelField, requestObject, texts } from "../../http/field-schemas.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { applyKeepAlive } from "../ollama/keep-alive.ts";
import { contextLength, ollamaFields, withoutLatest } from "../ollama/request-fields.ts";
import { relevanceScore } from "../relevance.ts";
import { runTask } from "../run-task.ts";
import { getPath, optionFields, optionsFromFields } from "./task-route.ts";

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

/** Relevance of texts to a query, as scores or as a ranking. */
export function rerankRoute(service: Service, limit: number): Route {
  return post({
    path: getPath(rerankingTask),
    summary: "Relevance of texts to a query",
    schema: toRequest(limit),
    response,
    answer: async (request, context) => {
      const { query, documents, top_n: topN } = request;
      const list = toTexts(request);
      refusePairs([query], list);
      const options = {
        ...optionsFromFields(rerankOptions, request),
        ...contextLength(request.options),
        ...omitUndefined({ topN }),
      };
      const call = { model: withoutLatest(request.model), texts: list.length, key: ["rerank", query, list, options] as const };
      const outcome = await runTask(service, context, call, (on) => service.runtime.rerank(query, list, { ...options, ...on }));
      await applyKeepAlive(service, context, outcome.resolved, request.keep_alive);
      const { results, scoring } = outcome.result;
      if (documents === undefined) {
        const scores = [...results].sort((a, b) => a.index - b.index).map(({ score }) => score);
        return jsonResponse(context, { model: outcome.model, scores, scoring }, outcome);
      }
      const ranked = results.map(({ index, score, text }) => ({
        index,
        relevance_score: options.raw === true ? score : relevanceScore(scoring, score),
        ...(request.return_documents === true ? { document: { text } } : {}),
      }));
      return jsonResponse(context, { model: outcome.model, results: ranked, scoring }, outcome);
    },
  });
}

/** The texts to rank. Throws INPUT_INVALID unless the request has either `prompts` or `documents`, and for options of the latter without them. */
function toTexts({ prompts, documents, top_n: topN, return_documents: withDocuments }: Request): readonly string[] {
  const list = prompts ?? documents;
  if (list === undefined || (prompts !== undefined && documents !== undefined)) {
    throw invalidInput(
      `the request has ${list === undefined ? "no" : "both prompts and"} documents`,
      "give `documents` for a ranking, or `prompts` for a score of each",
      { path: ["documents"] },
    );
  }
  const misplaced = topN !== undefined ? "top_n" : withDocuments !== undefined ? "return_documents" : undefined;
  if (prompts === undefined || misplaced === undefined) return list;
  throw invalidInput(`${misplaced} has no effect with prompts, which all get a score`, "give `documents` instead of `prompts`", {
    path: [misplaced],
  });
}
