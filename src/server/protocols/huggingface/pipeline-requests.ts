/** Requests of the pipelines of Hugging Face's inference API: `inputs`, with the options of the task in `parameters`. */
import { z } from "@hono/zod-openapi";
import { isObject } from "../../../contract/shapes/shape.ts";
import { isText, name, oneOf, requestObject, text, texts } from "../../http/field-schemas.ts";
import { requestLimits } from "../../http/request-limits.ts";

/** Tasks whose pipelines are built, besides `feature-extraction`, which is text-embeddings-inference's /embed. */
export type PipelineTask =
  | "text-classification"
  | "token-classification"
  | "zero-shot-classification"
  | "fill-mask"
  | "question-answering"
  | "sentence-similarity";

/** Options of Hugging Face's inference API, about how its servers schedule; they cannot change an answer. */
export const hubOptions: z.ZodType<object> = requestObject({
  wait_for_model: z.boolean().optional(),
  use_cache: z.boolean().optional(),
  use_gpu: z.boolean().optional(),
  dont_load_model: z.boolean().optional(),
}).openapi("PipelineOptions", { description: "Accepted and ignored" });

const several = (limit: number): z.ZodType<string | string[]> =>
  oneOf<string | string[]>("a string or an array of strings", [text, { schema: texts(limit, 1), fits: Array.isArray }]);
const topK = z.int().positive().optional();
const sentence = z.string().max(requestLimits.templateCharacters);

interface Request<Inputs, Parameters> {
  readonly inputs: Inputs;
  readonly parameters?: Parameters | undefined;
}

type Texts = string | string[];

/** The request of each task. */
export interface PipelineRequests {
  readonly "text-classification": Request<
    Texts,
    { readonly top_k?: number | undefined; readonly function_to_apply?: "sigmoid" | "softmax" | "none" | undefined }
  >;
  readonly "token-classification": Request<
    Texts,
    {
      readonly aggregation_strategy?: "none" | "simple" | "first" | "average" | "max" | undefined;
      readonly ignore_labels?: string[] | undefined;
      readonly stride?: number | undefined;
    }
  >;
  readonly "zero-shot-classification": Request<Texts, unknown> & {
    readonly parameters: {
      readonly candidate_labels: string | string[];
      readonly multi_label?: boolean | undefined;
      readonly hypothesis_template?: string | undefined;
    };
  };
  readonly "fill-mask": Request<Texts, { readonly top_k?: number | undefined; readonly targets?: string[] | undefined }>;
  readonly "question-answering": Request<
    { readonly question: string; readonly context: string },
    {
      readonly top_k?: number | undefined;
      readonly max_answer_len?: number | undefined;
      readonly doc_stride?: number | undefined;
      readonly handle_impossible_answer?: boolean | undefined;
      readonly align_to_words?: boolean | undefined;
    }
  >;
  readonly "sentence-similarity": Request<{ readonly source_sentence: string; readonly sentences: string[] }, object>;
}

/** Schemas of the requests by task. `limit`: maximum number of texts. */
export const pipelineRequests = (limit: number): { readonly [Task in PipelineTask]: z.ZodType<PipelineRequests[Task]> } => ({
  "text-classification": requestObject({
    inputs: several(limit),
    parameters: requestObject({
      top_k: topK,
      function_to_apply: z.enum(["sigmoid", "softmax", "none"]).optional(),
    }).optional(),
    options: hubOptions.optional(),
  }),
  "token-classification": requestObject({
    inputs: several(limit),
    parameters: requestObject({
      aggregation_strategy: z.enum(["none", "simple", "first", "average", "max"]).optional(),
      ignore_labels: z.array(name()).max(limit).optional(),
      stride: z.int().nonnegative().optional(),
    }).optional(),
    options: hubOptions.optional(),
  }),
  "zero-shot-classification": requestObject({
    inputs: several(limit),
    parameters: requestObject({
      candidate_labels: oneOf<string | string[]>("labels in an array, or in a string with commas between them", [
        { schema: sentence, fits: isText },
        { schema: texts(limit, 1), fits: Array.isArray },
      ]),
      multi_label: z.boolean().optional(),
      hypothesis_template: sentence.optional(),
    }),
    options: hubOptions.optional(),
  }),
  "fill-mask": requestObject({
    inputs: several(limit),
    parameters: requestObject({ top_k: topK, targets: texts(limit, 1).optional() }).optional(),
    options: hubOptions.optional(),
  }),
  "question-answering": requestObject({
    inputs: requestObject({ question: z.string(), context: z.string() }),
    parameters: requestObject({
      top_k: topK,
      max_answer_len: z.int().positive().optional(),
      doc_stride: z.int().positive().optional(),
      handle_impossible_answer: z.boolean().optional(),
      align_to_words: z.boolean().optional(),
    }).optional(),
    options: hubOptions.optional(),
  }),
  "sentence-similarity": requestObject({
    inputs: requestObject({ source_sentence: z.string(), sentences: texts(limit, 1) }),
    parameters: requestObject({}).optional(),
    options: hubOptions.optional(),
  }),
});

/** The task that the shape of a request names; undefined if the model decides. */
export function taskOfShape(body: unknown): PipelineTask | undefined {
  if (!isObject(body)) return undefined;
  const { inputs, parameters } = body;
  if (isObject(parameters) && "candidate_labels" in parameters) return "zero-shot-classification";
  if (!isObject(inputs)) return undefined;
  if ("source_sentence" in inputs) return "sentence-similarity";
  return "question" in inputs ? "question-answering" : undefined;
}
