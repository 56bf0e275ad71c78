/**
 * POST /v1/rerank and /v2/rerank, and the same under the paths of other services. The fields of a request say whose client sent it, and which response
 * it reads.
 */
import { omitUndefined } from "../../../contract/checked.ts";
import { createYielder } from "../../../tasks/encoding/yielding.ts";
import { jsonResponse } from "../../http/json-response.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { type AnsweredForm, answeredForm } from "../answered-form.ts";
import { relevanceScore, totalTokens } from "../relevance.ts";
import { runTask } from "../run-task.ts";
import { cutText, refuseDuplicates, textOfDocument } from "./documents.ts";
import { rerankRequest, toDocuments } from "./rerank-request.ts";
import { rerankResponse, responseBody } from "./rerank-response.ts";

type Version = "1" | "2";

/** Where the route is, and the version of Cohere's API whose defaults hold there. */
const locations: readonly { readonly path: string; readonly version: Version; readonly summary: string }[] = [
  { path: "/v1/rerank", version: "1", summary: "Rank documents by relevance, as the APIs of Cohere (v1), Jina and Voyage" },
  { path: "/v2/rerank", version: "2", summary: "Rank documents by relevance, as Cohere's API v2" },
  { path: "/v1/reranking", version: "2", summary: "Rank documents by relevance, as Mixedbread and llama.cpp" },
  { path: "/reranking", version: "2", summary: "Rank documents by relevance, as llama.cpp" },
];

/** The routes. */
export function rerankRoutes(service: Service): Route[] {
  return locations.map(({ path, version, summary }) =>
    post({ path, summary, ...rerankForm(service, version), response: rerankResponse }),
  );
}

/** Requests with `documents` or `input`. */
export function rerankForm(service: Service, version: Version): AnsweredForm {
  return answeredForm(rerankRequest(service.limits.maxTexts), async (request, context) => {
    const { query, top_n: topN = request.top_k, max_tokens_per_doc: maxTokens, rank_fields: fields, truncation } = request;
    const { raw_scores: raw = false } = request;
    const documents = toDocuments(request);
    refuseDuplicates(fields);
    const texts = documents.map((one, index) => textOfDocument(one, index, fields));
    refusePairs([query], texts);
    const truncate = truncation === false ? ("error" as const) : undefined;
    const options = { ...omitUndefined({ topN, truncate }), ...(raw ? { raw } : {}) };
    const key = ["rerank cut", query, texts, maxTokens ?? null, options] as const;
    const { runtime } = service;
    const outcome = await runTask(service, context, { model: request.model, texts: documents.length, key }, async (on) => {
      const readTexts = maxTokens === undefined ? texts : await cutTexts(texts, maxTokens, runtime.tokenizer(on.model));
      return runtime.rerank(query, readTexts, { ...options, ...on });
    });
    const { results, scoring } = outcome.result;
    const ranked = results.map(({ index, score }) => ({ index, score: raw ? score : relevanceScore(scoring, score) }));
    const id = context.get("requestId");
    const object = context.req.path === "/rerank" ? "rerank" : "list";
    const tokens = totalTokens(outcome.result);
    const body = responseBody(request, { id, model: outcome.model, version, object, ranked, documents, texts, tokens });
    return jsonResponse(context, body, outcome);
  });
}

async function cutTexts(
  texts: readonly string[],
  maxTokens: number,
  tokenizer: ReturnType<Service["runtime"]["tokenizer"]>,
): Promise<string[]> {
  const cutter = await tokenizer;
  const yieldIfDue = createYielder();
  const cut: string[] = [];
  for (const text of texts) {
    cut.push(await cutText(text, maxTokens, cutter));
    await yieldIfDue();
  }
  return cut;
}
