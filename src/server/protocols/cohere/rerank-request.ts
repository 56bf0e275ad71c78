/** The request of the rerank routes: the fields of Cohere, Jina, vLLM, Infinity, Voyage and Mixedbread. */
import { z } from "@hono/zod-openapi";
import { invalidInput } from "../../../contract/errors.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { listField, members, modelField, nameField, oneOfFields, requestObject, textField } from "../../http/field-schemas.ts";
import { requestLimits } from "../../http/request-limits.ts";
import type { CohereDocument } from "./documents.ts";

const document = oneOfFields<CohereDocument>("a string or an object", [
  textField,
  { schema: members(undefined, { text: { type: "string" } }), fits: isObject },
]);

/** Fields of a request. */
export interface CohereRerankRequest {
  readonly model?: string | undefined;
  readonly query: string;
  readonly documents?: readonly CohereDocument[] | undefined;
  readonly input?: readonly CohereDocument[] | undefined;
  readonly top_n?: number | undefined;
  readonly top_k?: number | undefined;
  readonly return_documents?: boolean | undefined;
  readonly return_input?: boolean | undefined;
  readonly rank_fields?: readonly string[] | undefined;
  readonly max_tokens_per_doc?: number | undefined;
  readonly truncation?: boolean | undefined;
  readonly raw_scores?: boolean | undefined;
}

const off: z.ZodType<false | undefined> = z.literal(false).optional();

/** Schema of the request. `limit`: maximum number of documents. */
export const rerankRequest = (limit: number): z.ZodType<CohereRerankRequest> =>
  requestObject({
    model: modelField.openapi({ example: "builtin" }),
    query: z.string().openapi({ example: "a pet" }),
    documents: listField(document, { min: 1, max: limit })
      .optional()
      .openapi({
        description: "Texts, or objects with `text` or the fields of `rank_fields`; either these or `input`",
        example: ["a car", "a cat"],
      }),
    input: listField(document, { min: 1, max: limit })
      .optional()
      .openapi({ description: "The documents, as Mixedbread names them" }),
    top_n: z.int().positive().optional().openapi({ description: "Maximum number of results. Default: all" }),
    top_k: z.int().positive().optional().openapi({ description: "The same, as Voyage and Mixedbread name it" }),
    return_documents: z.boolean().optional().openapi({
      description:
        "Whether results contain their documents. Default: true on /v1/rerank, as with Jina; false elsewhere, and for requests of Voyage",
    }),
    return_input: z.boolean().optional().openapi({ description: "The same, as Mixedbread names it. Default: false" }),
    rank_fields: z
      .array(nameField())
      .min(1)
      .max(requestLimits.rankFields)
      .optional()
      .openapi({ description: "Fields of objects to read. Default: text" }),
    max_tokens_per_doc: z
      .int()
      .positive()
      .optional()
      .openapi({ description: "Maximum tokens of a document; longer ones are truncated" }),
    truncation: z.boolean().optional().openapi({
      description:
        "Voyage: whether longer texts are truncated; otherwise they are refused. Marks the request as one of Voyage's clients",
    }),
    raw_scores: z.boolean().optional().openapi({
      description: "Infinity: return the model's raw output, without an activation function. Default: false",
    }),
    rewrite_query: off.openapi({ description: "Mixedbread: not built" }),
    return_embeddings: off.openapi({ description: "Jina: not built" }),
    priority: z.int().optional().openapi({ description: "Accepted and ignored: see x-inferyard-priority" }),
  }).openapi("RerankRequest");

/** Whose answer the request's client reads: `truncation` is Voyage's field, `input` Mixedbread's. All others read Cohere's and Jina's. */
export function getDialect({ truncation, input }: CohereRerankRequest): "cohere" | "voyage" | "mixedbread" {
  if (input !== undefined) return "mixedbread";
  return truncation === undefined ? "cohere" : "voyage";
}

/** The documents of a request. Throws INPUT_INVALID unless exactly one of `documents` and `input` is there, and one of `top_n` and `top_k` at most. */
export function toDocuments({ documents, input, top_n: topN, top_k: topK }: CohereRerankRequest): readonly CohereDocument[] {
  const list = documents ?? input;
  if (list === undefined || (documents !== undefined && input !== undefined)) {
    throw invalidInput(
      `the request has ${list === undefined ? "no documents" : "both documents and input"}`,
      "send one or more texts in `documents`",
      { path: ["documents"] },
    );
  }
  if (topN !== undefined && topK !== undefined) {
    throw invalidInput("the request has both top_n and top_k, which mean the same", "send one of them", { path: ["top_k"] });
  }
  return list;
}
