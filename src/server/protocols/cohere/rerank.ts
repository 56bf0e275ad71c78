/**
 * POST /v1/rerank and /v2/rerank of Cohere and Jina. One response serves all clients: `results` is common, `meta` is read by Cohere's clients,
 * `model` and `usage` by Jina's.
 */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { type Routes, callerOf, resultHeaders } from "../../http/context.ts";
import { relevanceScore, totalTokens } from "../relevance.ts";
import type { Service } from "../../serving/service.ts";
import { createYielder } from "../../../tasks/shared/yielding.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { requestLimits } from "../../http/request-limits.ts";
import { isObject, listOf, members, name, oneOf, text, requestObject } from "../../http/field-schemas.ts";
import { type Document, cutText, refuseDuplicates, textOfDocument } from "./documents.ts";
import { documentedErrors } from "./errors.ts";

const document = oneOf<Document>("a string or an object", [text, { schema: members(), fits: isObject }]);

const requestOf = (limit: number) =>
  requestObject({
    model: name().optional().openapi({ description: "Name of a model. Default: the server's default model", example: "builtin" }),
    query: z.string().openapi({ example: "a pet" }),
    documents: listOf(document, { min: 1, max: limit }).openapi({
      description: "Texts, or objects with `text` or the fields of `rank_fields`",
      example: ["a car", "a cat"],
    }),
    top_n: z.int().positive().optional().openapi({ description: "Maximum number of results. Default: all" }),
    return_documents: z.boolean().optional().openapi({
      description: "Whether results contain their documents. Default: true on /v1/rerank, as with Jina; false on /v2/rerank",
    }),
    rank_fields: z
      .array(name())
      .min(1)
      .max(requestLimits.rankFields)
      .optional()
      .openapi({ description: "Fields of objects to read. Default: text" }),
    max_tokens_per_doc: z
      .int()
      .positive()
      .optional()
      .openapi({ description: "Maximum tokens of a document; longer ones are truncated" }),
    priority: z.int().optional().openapi({ description: "Accepted and ignored: see x-inferyard-priority" }),
  }).openapi("RerankRequest");

const response = z
  .object({
    id: z.string(),
    model: z.string(),
    object: z.literal("list"),
    results: z.array(
      z.object({
        index: z.int().openapi({ description: "Index of the document in the request" }),
        relevance_score: z.number(),
        document: z.looseObject({ text: z.string() }).optional(),
      }),
    ),
    meta: z.object({
      api_version: z.object({ version: z.string() }),
      tokens: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
    }),
    usage: z
      .object({ total_tokens: z.int(), prompt_tokens: z.int() })
      .openapi({ description: "Number of tokens read: queries, documents and special tokens" }),
  })
  .openapi("RerankResponse");

type Version = "1" | "2";

const routeOf = (version: Version, limit: number) =>
  createRoute({
    method: "post",
    path: `/v${version}/rerank` as const,
    summary:
      version === "1"
        ? "Rank documents by relevance, as Cohere's API v1 and Jina's API"
        : "Rank documents by relevance, as Cohere's API v2",
    request: { body: { required: true, content: { "application/json": { schema: requestOf(limit) } } } },
    responses: {
      200: { description: "Results, best first", content: { "application/json": { schema: response } } },
      ...documentedErrors,
    },
  } satisfies RouteConfig);

/** Adds the route of one version. */
export function addRerank(routes: Routes, service: Service, version: Version): void {
  routes.openapi(routeOf(version, service.limits.maxTexts), async (context) => {
    const request = context.req.valid("json");
    const { query, documents, top_n: topN, max_tokens_per_doc: maxTokens } = request;
    const fields = request.rank_fields;
    refuseDuplicates(fields);
    const texts = documents.map((one, index) => textOfDocument(one, index, fields));
    refusePairs([query], texts);
    const limit = topN === undefined ? {} : { topN };
    const key = ["rerank cut", query, texts, maxTokens ?? null, limit] as const;
    const call = { model: request.model, texts: documents.length, key };
    const outcome = await service.call(callerOf(context), call, async (handle, signal) => {
      const readTexts = maxTokens === undefined ? texts : await cutTexts(texts, maxTokens, service.runtime.tokenizer(handle));
      return service.runtime.rerank(query, readTexts, { ...limit, model: handle, signal });
    });
    const { results, scoring } = outcome.result;
    const withDocuments = request.return_documents ?? version === "1";
    const total = totalTokens(outcome.result);
    return context.json(
      {
        id: context.get("requestId"),
        model: outcome.model,
        object: "list" as const,
        results: results.map(({ index, score }) => ({
          index,
          relevance_score: relevanceScore(scoring, score),
          ...(withDocuments ? { document: documentBody(documents[index], texts[index]) } : {}),
        })),
        meta: { api_version: { version }, tokens: { input_tokens: total, output_tokens: 0 } },
        usage: { total_tokens: total, prompt_tokens: total },
      },
      200,
      resultHeaders(outcome),
    );
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

/** The document as it was sent, with the text that was ranked where it has no field `text`, since clients expect one. */
function documentBody(document: Document | undefined, text = ""): { readonly text: string } {
  if (typeof document !== "object") return { text };
  return { ...document, text: typeof document["text"] === "string" ? document["text"] : text };
}
