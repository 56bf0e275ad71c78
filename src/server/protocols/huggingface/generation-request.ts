/** Requests of Hugging Face's tasks that write texts: those of text-generation-inference, with the parameters that pipelines of transformers add. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generation-options.ts";
import { isObject, listOf, oneOf, requestObject, text, texts } from "../../http/field-schemas.ts";
import { guided } from "../generation/constraint-fields.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { toSeed } from "../generation/seed.ts";
import { hubOptions } from "./pipeline-requests.ts";

/** Parameters of a request. */
export interface GenerationParameters {
  readonly max_new_tokens?: number;
  readonly max_length?: number;
  readonly min_new_tokens?: number;
  readonly min_length?: number;
  readonly do_sample?: boolean;
  readonly temperature?: number;
  readonly top_k?: number;
  readonly top_p?: number;
  readonly typical_p?: number;
  readonly seed?: number;
  readonly repetition_penalty?: number;
  readonly frequency_penalty?: number;
  readonly no_repeat_ngram_size?: number;
  readonly num_beams?: number;
  readonly length_penalty?: number;
  readonly early_stopping?: boolean | "never";
  readonly num_return_sequences?: number;
  readonly best_of?: number;
  readonly stop?: readonly string[];
  readonly stop_sequences?: readonly string[];
  readonly return_full_text?: boolean;
  readonly truncate?: number;
  readonly watermark?: boolean;
  readonly adapter_id?: string;
  readonly details?: boolean;
  readonly decoder_input_details?: boolean;
  readonly top_n_tokens?: number;
  readonly grammar?: unknown;
  readonly src_lang?: string;
  readonly tgt_lang?: string;
  /** Of the tasks `summarization`, `translation` and `text2text-generation`: parameters like these. */
  readonly generate_parameters?: GenerationParameters;
  readonly generation_parameters?: GenerationParameters;
}

/** A validated request. */
export interface GenerationRequest {
  readonly inputs: string | readonly string[];
  readonly parameters?: GenerationParameters;
  readonly stream?: boolean;
}

const count = z.int().positive().optional();
const shared = {
  max_new_tokens: z.int().nonnegative().optional().openapi({ description: "Tokens to generate at most" }),
  max_length: z.int().positive().optional().openapi({ description: "The same; of pipelines" }),
  min_new_tokens: z.int().nonnegative().optional(),
  min_length: z.int().nonnegative().optional(),
  do_sample: z.boolean().optional().openapi({ description: "Default: whether one of the settings of sampling is given" }),
  temperature: z.number().min(0).max(100).optional(),
  top_k: z.int().nonnegative().optional(),
  top_p: z.number().min(0).max(1).optional(),
  typical_p: z.number().min(0).max(1).optional(),
  seed: z.int().optional(),
  repetition_penalty: z.number().optional(),
  frequency_penalty: z.number().optional(),
  no_repeat_ngram_size: z.int().nonnegative().optional(),
  num_beams: count,
  length_penalty: z.number().optional(),
  early_stopping: z.union([z.boolean(), z.literal("never")]).optional(),
  num_return_sequences: count,
  best_of: z.int().positive().optional().openapi({ description: "Only 1" }),
  stop: listOf(z.string()).optional(),
  stop_sequences: listOf(z.string()).optional(),
};

const parameters = requestObject({
  ...shared,
  return_full_text: z
    .boolean()
    .optional()
    .openapi({ description: "Whether the prompt stands before its text. Default: true for pipelines, false on /generate" }),
  truncate: z.int().positive().optional().openapi({ description: "Tokens of the prompt that are read at most: the last ones" }),
  watermark: z.boolean().optional().openapi({ description: "Only false" }),
  adapter_id: z.string().optional().openapi({ description: "Not built" }),
  details: z.boolean().optional().openapi({ description: "Whether tokens and reasons are given beside the text" }),
  decoder_input_details: z.boolean().optional().openapi({ description: "With `details`: the tokens of the prompt too" }),
  top_n_tokens: z
    .int()
    .min(0)
    .max(20)
    .optional()
    .openapi({ description: "With `details`: the most probable tokens at each place" }),
  grammar: z
    .unknown()
    .optional()
    .openapi({ description: '`{ "type": "json" or "regex", "value" }`, as text-generation-inference: what the text must be' }),
  src_lang: z.string().optional(),
  tgt_lang: z.string().optional(),
  generate_parameters: requestObject(shared).optional(),
  generation_parameters: requestObject(shared).optional(),
}).openapi("GenerationParameters");

/** Schema of a request. `limit`: maximum number of texts. */
export const generationRequest = (limit: number): z.ZodType<GenerationRequest> =>
  requestObject({
    inputs: oneOf<string | string[]>("a string or an array of strings", [text, { schema: texts(limit, 1), fits: Array.isArray }]),
    parameters: parameters.optional(),
    stream: z.boolean().optional().openapi({ description: "Whether tokens are sent as server-sent events. Default: false" }),
    options: hubOptions.optional(),
  }).openapi("GenerationRequest") as never;

/** The parameters, with the members of `generate_parameters` added. */
export function allParameters({ parameters: given = {} }: GenerationRequest): GenerationParameters {
  return { ...given, ...given.generate_parameters, ...given.generation_parameters };
}

/** Options of generation. Throws INPUT_INVALID for what is not built. */
export function toGenerationOptions(given: GenerationParameters): GenerationOptions {
  const { best_of: bestOf = 1, watermark, adapter_id: adapter, top_p: topP, typical_p: typicalP, temperature } = given;
  if (bestOf > 1) throw unsupportedField("parameters.best_of", "choosing the best of several texts", "use num_return_sequences");
  if (watermark === true) throw unsupportedField("parameters.watermark", "watermarking", "leave it out");
  if (adapter !== undefined) throw unsupportedField("parameters.adapter_id", "choosing an adapter", "leave it out");
  const stop = [...(given.stop ?? []), ...(given.stop_sequences ?? [])].filter((each) => each !== "");
  return omitUndefined({
    maxNewTokens: given.max_new_tokens ?? given.max_length,
    minNewTokens: given.min_new_tokens ?? given.min_length,
    doSample: given.do_sample,
    temperature: topP === 0 ? 0 : temperature,
    topK: given.top_k,
    topP: topP === 0 ? undefined : topP,
    typicalP: typicalP === 0 ? undefined : typicalP,
    seed: toSeed(given.seed),
    repetitionPenalty: given.repetition_penalty,
    frequencyPenalty: given.frequency_penalty,
    noRepeatNgramSize: given.no_repeat_ngram_size,
    numBeams: given.num_beams,
    lengthPenalty: given.length_penalty,
    earlyStopping: given.early_stopping,
    n: given.num_return_sequences,
    stop: stop.length === 0 ? undefined : stop,
    constraint: toConstraint(given.grammar),
  });
}

function toConstraint(grammar: unknown): GenerationOptions["constraint"] {
  if (grammar === undefined) return undefined;
  const path = "parameters.grammar";
  const { type, value } = isObject(grammar) ? grammar : {};
  if (type === "regex") return guided("regex", value, path);
  if (type === "json") return guided("json", value, path);
  const { schema } = isObject(value) ? value : {};
  if (type === "json_schema") return guided("json", schema, path);
  throw invalidField(path, 'must be an object with the type "json", "json_schema" or "regex" and a value');
}
