/**
 * POST /v1/rerank and /v2/rerank, as Cohere and Jina have them. One answer serves their clients: `results` is the same for all, `meta` is what
 * Cohere's read besides, `model` and `usage` what Jina's do.
 */
import { type RouteConfig, createRoute, z } from "@hono/zod-openapi";
import { type Routes, callerOf, servedHeaders } from "../../http/context.ts";
import { relevanceScore, totalTokens } from "../relevance.ts";
import type { Service } from "../../serving/service.ts";
import { createYielder } from "../../../tasks/shared/yielding.ts";
import { refusePairs } from "../../http/pair-limits.ts";
import { requestLimits } from "../../http/request-limits.ts";
import { isObject, listOf, members, name, oneOf, text } from "../../http/field-schemas.ts";
import { type Document, cutText, refuseDuplicates, textOfDocument } from "./documents.ts";
import { documentedErrors } from "./errors.ts";

const document = oneOf<Document>("a string or an object", [text, { schema: members(), fits: isObject }]);

const requestOf = (limit: number) =>
  z
    .strictObject({
      model: name().nullish().openapi({ description: "Name of a model; left out, the server's default", example: "builtin" }),
      query: z.string().openapi({ example: "a pet" }),
      documents: listOf(document, { min: 1, max: limit }).openapi({
        description: "Texts, or objects with `text` or the fields of `rank_fields`",
        example: ["a car", "a cat"],
      }),
      top_n: z.int().positive().nullish().openapi({ description: "Only so many results. Default: all" }),
      return_documents: z.boolean().nullish().openapi({
        description: "Whether results carry their documents. Default: on /v1/rerank true, as Jina's; on /v2/rerank false",
      }),
      rank_fields: z
        .array(name())
        .min(1)
        .max(requestLimits.rankFields)
        .nullish()
        .openapi({ description: "Fields of objects that are read. Default: text" }),
      max_tokens_per_doc: z.int().positive().nullish().openapi({ description: "Documents are cut to so many tokens first" }),
      priority: z.int().nullish().openapi({ description: "Accepted, and changes nothing: see x-inferyard-priority" }),
    })
    .openapi("RerankRequest");

const response = z
  .object({
    id: z.string(),
    model: z.string(),
    object: z.literal("list"),
    results: z.array(
      z.object({
        index: z.int().openapi({ description: "Place of the document in the request" }),
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
      .openapi({ description: "Tokens the model read: queries, documents, special tokens" }),
  })
  .openapi("RerankResponse");

type Version = "1" | "2";

const routeOf = (version: Version, limit: number) =>
  createRoute({
    method: "post",
    path: `/v${version}/rerank` as const,
    summary: version === "1" ? "Documents in order, as Cohere's version 1 and Jina's API" : "Documents in order, as Cohere's API",
    request: { body: { required: true, content: { "application/json": { schema: requestOf(limit) } } } },
    responses: {
      200: { description: "Best first", content: { "application/json": { schema: response } } },
      ...documentedErrors,
    },
  } satisfies RouteConfig);

export function addRerank(routes: Routes, service: Service, version: Version): void {
  routes.openapi(routeOf(version, service.limits.texts), async (context) => {
    const asked = context.req.valid("json");
    const { query, documents, top_n: topN, max_tokens_per_doc: maxTokens } = asked;
    const fields = asked.rank_fields ?? undefined;
    refuseDuplicates(fields);
    const texts = documents.map((one, index) => textOfDocument(one, index, fields));
    refusePairs([query], texts);
    const limit = typeof topN === "number" ? { topN } : {};
    const question = ["rerank cut", query, texts, maxTokens ?? null, limit] as const;
    const call = { model: asked.model ?? undefined, texts: documents.length, question };
    const served = await service.call(callerOf(context), call, async (handle, signal) => {
      const read = typeof maxTokens === "number" ? await cutTexts(texts, maxTokens, service.runtime.tokenizer(handle)) : texts;
      return service.runtime.rerank(query, read, { ...limit, model: handle, signal });
    });
    const { results, scoring } = served.result;
    const withDocuments = asked.return_documents ?? version === "1";
    const total = totalTokens(served.result);
    return context.json(
      {
        id: context.get("requestId"),
        model: served.model,
        object: "list" as const,
        results: results.map(({ index, score }) => ({
          index,
          relevance_score: relevanceScore(scoring, score),
          ...(withDocuments ? { document: shown(documents[index], texts[index]) } : {}),
        })),
        meta: { api_version: { version }, tokens: { input_tokens: total, output_tokens: 0 } },
        usage: { total_tokens: total, prompt_tokens: total },
      },
      200,
      servedHeaders(served),
    );
  });
}

async function cutTexts(
  texts: readonly string[],
  maxTokens: number,
  tokenizer: ReturnType<Service["runtime"]["tokenizer"]>,
): Promise<string[]> {
  const cutter = await tokenizer;
  const rest = createYielder();
  const cut: string[] = [];
  for (const text of texts) {
    cut.push(await cutText(text, maxTokens, cutter));
    await rest();
  }
  return cut;
}

/** As it came, with the text that was read where it has none of that name: clients want to find one. */
function shown(document: Document | undefined, text = ""): { readonly text: string } {
  if (typeof document !== "object") return { text };
  return { ...document, text: typeof document["text"] === "string" ? document["text"] : text };
}
