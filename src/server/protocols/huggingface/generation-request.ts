/** Requests of Hugging Face's tasks that write texts: those of text-generation-inference, with the parameters that pipelines of transformers add. */
import { z } from "@hono/zod-openapi";
import { isObject } from "../../../contract/shapes/shape.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generated-generation-options.ts";
import { listField, oneOfFields, requestObject, textField, texts } from "../../http/field-schemas.ts";
import { type RequestForm, requestForm } from "../../http/routes/request-form.ts";
import { guided } from "../generation/constraint-fields.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { readSampling } from "../generation/sampling.ts";
import { hubOptions } from "./pipelines.ts";

/** A request to write texts. */
export interface TextsCall {
  readonly inputs: string | readonly string[];
  /** Undefined: as the route has it. */
  readonly isStreamed: boolean | undefined;
  /** Number of texts for each prompt. */
  readonly n: number;
  /** Options of generation. Throws INPUT_INVALID for what is not built. */
  readonly readOptions: () => GenerationOptions;
  /** Tokens of a prompt that are read at most: the last ones. */
  readonly truncate: number | undefined;
  /** Whether the prompt stands before its text. Undefined: as the route has it. */
  readonly isFull: boolean | undefined;
  /** Whether tokens and reasons are given beside the texts, the tokens of the prompts too, and how many of the most probable tokens at each place. */
  readonly details: boolean;
  readonly withPrompts: boolean;
  readonly topTokens: number;
  readonly sourceLanguage: string | undefined;
  readonly targetLanguage: string | undefined;
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
  stop: listField(z.string()).optional(),
  stop_sequences: listField(z.string()).optional(),
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

/** Requests to write texts. `limit`: maximum number of texts. */
export const generationForm = (limit: number): RequestForm<TextsCall> =>
  requestForm(
    requestObject({
      inputs: oneOfFields<string | string[]>("a string or an array of strings", [
        textField,
        { schema: texts(limit, 1), fits: Array.isArray },
      ]),
      parameters: parameters.optional(),
      stream: z.boolean().optional().openapi({ description: "Whether tokens are sent as server-sent events. Default: false" }),
      options: hubOptions.optional(),
    }).openapi("GenerationRequest"),
    ({ inputs, stream: isStreamed, parameters: written = {} }) => {
      const given = { ...written, ...written.generate_parameters, ...written.generation_parameters };
      return {
        inputs,
        isStreamed,
        n: given.num_return_sequences ?? 1,
        readOptions: () => toGenerationOptions(given),
        truncate: given.truncate,
        isFull: given.return_full_text,
        details: given.details ?? false,
        withPrompts: given.decoder_input_details ?? false,
        topTokens: given.top_n_tokens ?? 0,
        sourceLanguage: given.src_lang,
        targetLanguage: given.tgt_lang,
      };
    },
  );

/** Options of generation. Throws INPUT_INVALID for what is not built. */
function toGenerationOptions(given: z.infer<typeof parameters>): GenerationOptions {
  const { best_of: bestOf = 1, watermark, adapter_id: adapter } = given;
  if (bestOf > 1) throw unsupportedField("parameters.best_of", "choosing the best of several texts", "use num_return_sequences");
  if (watermark === true) throw unsupportedField("parameters.watermark", "watermarking", "leave it out");
  if (adapter !== undefined) throw unsupportedField("parameters.adapter_id", "choosing an adapter", "leave it out");
  return readSampling({
    maxNewTokens: given.max_new_tokens ?? given.max_length,
    minNewTokens: given.min_new_tokens ?? given.min_length,
    doSample: given.do_sample,
    temperature: given.temperature,
    topK: given.top_k,
    topP: given.top_p,
    typicalP: given.typical_p,
    seed: given.seed,
    repetitionPenalty: given.repetition_penalty,
    frequencyPenalty: given.frequency_penalty,
    noRepeatNgramSize: given.no_repeat_ngram_size,
    numBeams: given.num_beams,
    lengthPenalty: given.length_penalty,
    earlyStopping: given.early_stopping,
    n: given.num_return_sequences,
    stop: [...(given.stop ?? []), ...(given.stop_sequences ?? [])],
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
