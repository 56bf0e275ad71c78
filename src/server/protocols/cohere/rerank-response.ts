/** The responses of the rerank routes. */
import { z } from "@hono/zod-openapi";
import type { Document } from "./documents.ts";
import { type RerankRequest, dialectOf } from "./rerank-request.ts";

/** One result: a document's index and score. */
export interface Ranked {
  readonly index: number;
  readonly score: number;
}

/** What a response is made from. */
export interface RerankOutcome {
  readonly id: string;
  readonly model: string;
  readonly version: "1" | "2";
  readonly ranked: readonly Ranked[];
  readonly documents: readonly Document[];
  /** The texts that were ranked. */
  readonly texts: readonly string[];
  /** Number of tokens read. */
  readonly tokens: number;
}

const usage = z
  .object({ total_tokens: z.int(), prompt_tokens: z.int() })
  .openapi({ description: "Number of tokens read: queries, documents and special tokens" });
const returned = z.union([z.string(), z.looseObject({ text: z.string() })]);

/** Schema of the response: `results` for Cohere and Jina, `data` for Voyage and Mixedbread. */
export const rerankResponse: z.ZodType<object> = z
  .object({
    id: z.string().optional(),
    model: z.string(),
    object: z.literal("list"),
    results: z
      .array(
        z.object({
          index: z.int().openapi({ description: "Index of the document in the request" }),
          relevance_score: z.number(),
          document: z.looseObject({ text: z.string() }).optional(),
        }),
      )
      .optional(),
    data: z
      .array(
        z.object({
          index: z.int(),
          relevance_score: z.number().optional(),
          score: z.number().optional(),
          document: z.string().optional(),
          input: returned.optional(),
          object: z.literal("rank_result").optional(),
        }),
      )
      .optional()
      .openapi({ description: "Instead of `results`, for requests of Voyage and Mixedbread" }),
    meta: z
      .object({
        api_version: z.object({ version: z.string() }),
        tokens: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
      })
      .optional(),
    usage,
    top_k: z.int().optional(),
    return_input: z.boolean().optional(),
  })
  .openapi("RerankResponse");

/**
 * The response that the request's client reads. `results` is common to Cohere and Jina, `meta` is read by Cohere's clients, `model` and `usage` by
 * Jina's.
 */
export function responseBody(request: RerankRequest, outcome: RerankOutcome): object {
  const { id, model, version, ranked, documents, texts, tokens } = outcome;
  const list = { model, object: "list" as const, usage: { total_tokens: tokens, prompt_tokens: tokens } };
  switch (dialectOf(request)) {
    case "voyage": {
      const withDocuments = request.return_documents ?? false;
      const data = ranked.map(({ index, score }) => ({
        index,
        relevance_score: score,
        ...(withDocuments ? { document: texts[index] } : {}),
      }));
      return { ...list, data };
    }
    case "mixedbread": {
      const withInput = request.return_input ?? request.return_documents ?? false;
      const data = ranked.map(({ index, score }) => ({
        object: "rank_result" as const,
        index,
        score,
        ...(withInput ? { input: documents[index] } : {}),
      }));
      return { ...list, data, top_k: ranked.length, return_input: withInput };
    }
    case "cohere": {
      const withDocuments = request.return_documents ?? version === "1";
      const results = ranked.map(({ index, score }) => ({
        index,
        relevance_score: score,
        ...(withDocuments ? { document: documentBody(documents[index], texts[index]) } : {}),
      }));
      const meta = { api_version: { version }, tokens: { input_tokens: tokens, output_tokens: 0 } };
      return { id, ...list, results, meta };
    }
  }
}

/** The document as it was sent, with the text that was ranked where it has no field `text`, since clients expect one. */
function documentBody(document: Document | undefined, text = ""): { readonly text: string } {
  if (typeof document !== "object") return { text };
  return { ...document, text: typeof document["text"] === "string" ? document["text"] : text };
}
