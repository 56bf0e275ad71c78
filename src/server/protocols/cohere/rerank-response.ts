/** The responses of the rerank routes. */
import { z } from "@hono/zod-openapi";
import type { CohereDocument } from "./documents.ts";
import { type CohereRerankRequest, getDialect } from "./rerank-request.ts";

/** One result: a document's index and score. */
export interface Ranked {
  readonly index: number;
  readonly score: number;
}

/** Data of a response. */
export interface RerankOutcome {
  readonly id: string;
  readonly model: string;
  readonly version: "1" | "2";
  readonly object: "list" | "rerank";
  readonly ranked: readonly Ranked[];
  readonly documents: readonly CohereDocument[];
  /** The texts that were ranked. */
  readonly texts: readonly string[];
  /** Number of tokens read. */
  readonly tokens: number;
}

const usage = z
  .object({ total_tokens: z.int(), prompt_tokens: z.int() })
  .openapi({ description: "Number of tokens read: queries, documents and special tokens" });
const returned = z.union([z.string(), z.looseObject({ text: z.string() })]);

const datum = z.object({
  index: z.int(),
  relevance_score: z.number().optional(),
  score: z.number().optional(),
  document: z.string().optional(),
  input: returned.optional(),
  object: z.literal("rank_result").optional(),
});

/** Schema of the response. */
export const rerankResponse: z.ZodType = z
  .object({
    id: z.string(),
    model: z.string(),
    object: z.enum(["list", "rerank"]).openapi({ description: "rerank on /rerank, as Infinity; else list" }),
    results: z.array(
      z.object({
        index: z.int().openapi({ description: "Index of the document in the request" }),
        relevance_score: z.number(),
        document: z.looseObject({ text: z.string() }).optional(),
      }),
    ),
    data: z.array(datum).optional().openapi({ description: "The results once more, as Voyage and Mixedbread" }),
    meta: z.object({
      api_version: z.object({ version: z.string() }),
      tokens: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
    }),
    usage,
    top_k: z.int().optional(),
    return_input: z.boolean().optional(),
  })
  .openapi("RerankResponse");

/**
 * The response for the client of the request. `results` is common to Cohere and Jina, `meta` is read by Cohere's clients, `model` and `usage` by Jina's, `data`
 * by Voyage's, which do not always identify themselves, and Mixedbread's.
 */
export function responseBody(request: CohereRerankRequest, outcome: RerankOutcome): object {
  const { id, model, version, object, ranked, documents, texts, tokens } = outcome;
  const dialect = getDialect(request);
  const isReturned = request.return_documents ?? request.return_input ?? (dialect === "cohere" && version === "1");
  const results = ranked.map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(isReturned && dialect === "cohere" ? { document: documentBody(documents[index], texts[index]) } : {}),
  }));
  return {
    id,
    model,
    object,
    results,
    meta: { api_version: { version }, tokens: { input_tokens: tokens, output_tokens: 0 } },
    usage: { total_tokens: tokens, prompt_tokens: tokens },
    ...(dialect === "mixedbread"
      ? { data: mixedbreadData(outcome, isReturned), top_k: ranked.length, return_input: isReturned }
      : { data: voyageData(outcome, request.return_documents === true) }),
  };
}

function voyageData({ ranked, texts }: RerankOutcome, isReturned: boolean): object[] {
  return ranked.map(({ index, score }) => ({ index, relevance_score: score, ...(isReturned ? { document: texts[index] } : {}) }));
}

function mixedbreadData({ ranked, documents }: RerankOutcome, isReturned: boolean): object[] {
  return ranked.map(({ index, score }) => ({
    object: "rank_result",
    index,
    score,
    ...(isReturned ? { input: documents[index] } : {}),
  }));
}

/** The document as it was sent, with the text that was ranked where it has no field `text`, since clients expect one. */
function documentBody(document: CohereDocument | undefined, text = ""): { readonly text: string } {
  if (typeof document !== "object") return { text };
  return { ...document, text: typeof document["text"] === "string" ? document["text"] : text };
}
