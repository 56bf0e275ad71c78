/** Requests of OpenAI's chat completions, with the fields that vLLM and others add. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import type { ChatRequest } from "../../../api/task-requests.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generation-options.ts";
import { members, listOf, getMembers, name, requestObject, tokenIds } from "../../http/field-schemas.ts";
import { type ConstraintRequest, constraintFields, toConstraint } from "../generation/constraint-fields.ts";
import { unsupportedField } from "../generation/request-errors.ts";
import { ttlField } from "../ollama/keep-alive.ts";
import { toSeed } from "../generation/seed.ts";
import { type ThinkingRequest, thinkingFields, thinkingVariables } from "../generation/thinking-fields.ts";
import { type MessageField, messagesField } from "./chat-messages.ts";
import { type ToolsRequest, toolFields, toTools } from "./chat-tools.ts";

const text = z.string();

/** Fields that change how tokens are chosen, which chat completions and completions share. */
export interface SamplingRequest {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly min_p?: number;
  readonly typical_p?: number;
  readonly typ_p?: number;
  readonly seed?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly repetition_penalty?: number;
  readonly repeat_penalty?: number;
  readonly logit_bias?: Readonly<Record<string, number>>;
  readonly stop?: string | readonly string[];
  readonly stop_token_ids?: readonly number[];
  readonly min_tokens?: number;
  readonly ignore_eos?: boolean;
  readonly bad_words?: readonly string[];
  readonly n?: number;
}

/** A validated request. */
export interface ChatCompletionsRequest extends SamplingRequest, ConstraintRequest, ToolsRequest, ThinkingRequest {
  readonly model?: string;
  readonly messages: readonly MessageField[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly n_predict?: number;
  readonly add_generation_prompt?: boolean;
  readonly documents?: readonly Readonly<Record<string, unknown>>[];
  readonly continue_final_message?: boolean;
  readonly chat_template?: string;
  readonly ttl?: number;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly logprobs?: boolean;
  readonly top_logprobs?: number;
}

/** Schemas of the fields of `SamplingRequest`. */
export const samplingFields: Readonly<Record<keyof SamplingRequest, z.ZodType>> = {
  temperature: z.number().min(0).max(100).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(-1).optional().openapi({ description: "As vLLM: draw among this many most probable tokens; 0 and -1: all" }),
  min_p: z.number().min(0).max(1).optional(),
  typical_p: z.number().min(0).max(1).optional(),
  typ_p: z.number().min(0).max(1).optional().openapi({ description: "As llama.cpp: `typical_p`" }),
  seed: z
    .number()
    .refine(Number.isInteger, "must be a whole number")
    .optional()
    .openapi({ type: "integer", description: "-1: none, as without one" }),
  presence_penalty: z.number().optional(),
  frequency_penalty: z.number().optional(),
  repetition_penalty: z.number().optional(),
  repeat_penalty: z.number().optional().openapi({ description: "As llama.cpp: `repetition_penalty`" }),
  logit_bias: getMembers(z.number()).optional(),
  stop: z.union([text, listOf(text)]).optional(),
  stop_token_ids: tokenIds().optional(),
  min_tokens: z.int().nonnegative().optional(),
  ignore_eos: z.boolean().optional(),
  bad_words: listOf(text).optional().openapi({ description: "As vLLM: texts that are not generated" }),
  n: z.int().positive().optional(),
};

/** A field that changes nothing here, whatever its value. `type`: of the value, for the OpenAPI document. */
const harmless = (type: "string" | "object" | "boolean"): z.ZodType => z.unknown().optional().openapi({ type });

/** Fields that are accepted and change nothing here. */
export const ineffectiveFields: Readonly<Record<string, z.ZodType>> = {
  user: harmless("string"),
  metadata: harmless("object"),
  store: harmless("boolean").openapi({ description: "Accepted and ignored: nothing is stored" }),
  service_tier: harmless("string"),
  safety_identifier: harmless("string"),
  prompt_cache_key: harmless("string"),
  prompt_cache_retention: harmless("string"),
  verbosity: harmless("string"),
  prediction: z.unknown().optional(),
  modalities: listOf(z.literal("text")).optional(),
};

/** Schema of `stream_options`. */
export const streamOptions: z.ZodType = requestObject({
  include_usage: z.boolean().optional(),
  continuous_usage_stats: z.boolean().optional(),
  include_obfuscation: z.boolean().optional(),
});

/** A maximum number of tokens: -1, and -2 as in llama.cpp, mean no limit. */
export const tokenLimit: z.ZodInt = z.int().min(-2);

/** The option for a maximum number of new tokens. */
export function newTokenLimit(limit: number | undefined): { readonly maxNewTokens?: number } {
  return limit === undefined || limit < 0 ? {} : { maxNewTokens: limit };
}

/** The texts that end an answer. An empty one ends none: clients write it for none. */
export function toStops(stop: string | readonly string[] | undefined): readonly string[] | undefined {
  const stops = (typeof stop === "string" ? [stop] : (stop ?? [])).filter((each) => each !== "");
  return stops.length === 0 ? undefined : stops;
}

/** Fields of vLLM about the prompt that the chat template makes. */
const templateFields = {
  add_generation_prompt: z
    .boolean()
    .optional()
    .openapi({ description: "As vLLM: whether the prompt ends where an answer begins. Default: true" }),
  documents: listOf(members()).optional().openapi({ description: "As vLLM: the variable of the model's chat template" }),
  continue_final_message: z.boolean().optional().openapi({ description: "As vLLM; only false" }),
  chat_template: text.optional().openapi({ description: "Refused: templates come from the model" }),
};

/** Schema of the request. */
export const chatRequestSchema: z.ZodType<ChatCompletionsRequest> = requestObject({
  model: name().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
  messages: messagesField,
  max_tokens: tokenLimit.optional().openapi({ description: "Older name of `max_completion_tokens`" }),
  max_completion_tokens: tokenLimit
    .optional()
    .openapi({ description: "Tokens to generate at most; -1: no limit. Default: up to the model's context" }),
  n_predict: tokenLimit.optional().openapi({ description: "As llama.cpp: `max_completion_tokens`" }),
  ...samplingFields,
  stream: z.boolean().optional(),
  stream_options: streamOptions.optional(),
  logprobs: z.boolean().optional(),
  top_logprobs: z.int().min(0).max(20).optional(),
  ...toolFields,
  ...constraintFields,
  ...thinkingFields,
  ...templateFields,
  ttl: ttlField,
  ...ineffectiveFields,
}).openapi("ChatCompletionsRequest") as never;

/** Options of sampling, by the names of the library. */
export function toSampling(request: SamplingRequest): GenerationOptions {
  const {
    temperature,
    top_p,
    top_k,
    min_p,
    typical_p: typical = request.typ_p,
    seed,
    presence_penalty,
    frequency_penalty,
    repetition_penalty,
    repeat_penalty,
    logit_bias,
  } = request;
  const { stop, stop_token_ids, min_tokens, ignore_eos, bad_words, n = 1 } = request;
  const fields = {
    temperature,
    topP: top_p === 0 ? undefined : top_p,
    topK: top_k === -1 ? 0 : top_k,
    minP: min_p,
    typicalP: typical === 0 ? undefined : typical,
    seed: toSeed(seed),
    presencePenalty: presence_penalty,
    frequencyPenalty: frequency_penalty,
    repetitionPenalty: repetition_penalty ?? repeat_penalty,
    logitBias: logit_bias,
    stop: toStops(stop),
    stopTokens: stop_token_ids,
    minNewTokens: min_tokens,
    ignoreEndTokens: ignore_eos,
    badWords: bad_words?.filter((each) => each !== ""),
    n,
  };
  // A share of 0 leaves the most probable token. Several texts are to differ, as they do with OpenAI's temperature of 1.
  const choice = top_p === 0 ? { temperature: 0 } : n > 1 && temperature === undefined ? { doSample: true } : {};
  return { ...(omitUndefined(fields) as GenerationOptions), ...choice };
}

/** The options of `chat` that a request asks for. Throws INPUT_INVALID for what is not built. */
export function toChatOptions(request: ChatCompletionsRequest): Omit<ChatRequest, "model"> {
  const limit = request.max_completion_tokens ?? request.max_tokens ?? request.n_predict;
  return {
    ...toSampling(request),
    ...toConstraint(request),
    ...toTools(request),
    ...templateVariables(request),
    ...(request.logprobs === true ? { logprobs: request.top_logprobs ?? 0 } : {}),
    ...newTokenLimit(limit),
  };
}

/** The variables of the chat template. Throws INPUT_INVALID for a template of the request, and for a message to be continued. */
function templateVariables(request: ChatCompletionsRequest): Pick<ChatRequest, "templateVariables"> {
  const { add_generation_prompt: opens, documents, continue_final_message: continues, chat_template: template } = request;
  if (template !== undefined)
    throw unsupportedField("chat_template", "a template of the request", "leave it out: the model has its own");
  if (continues === true) throw unsupportedField("continue_final_message", "continuing a message", "use /v1/completions");
  const own = omitUndefined({ add_generation_prompt: opens, documents });
  const { templateVariables: thinking } = thinkingVariables(request);
  return thinking === undefined && Object.keys(own).length === 0 ? {} : { templateVariables: { ...own, ...thinking } };
}
