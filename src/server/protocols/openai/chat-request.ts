/** Requests of OpenAI's chat completions, with the fields that vLLM and others add. */
import { z } from "@hono/zod-openapi";
import type { ChatRequest, GenerateRequest } from "../../../api/task-requests.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generated-generation-options.ts";
import type { Prompt } from "../../../tasks/generation/text/prompt-tokens.ts";
import { memberRecord, listField, members, modelField, requestObject, tokenIds } from "../../http/field-schemas.ts";
import { type RequestForm, requestForm } from "../../http/routes/request-form.ts";
import type { ChatCall } from "../generation/chat-call.ts";
import { constraintFields, toConstraint } from "../generation/constraint-fields.ts";
import type { GenerationCall } from "../generation/open-stream.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { readSampling } from "../generation/sampling.ts";
import { thinkingFields, thinkingVariables } from "../generation/thinking-fields.ts";
import { ttlField } from "../ollama/keep-alive.ts";
import { messagesField, toMessages } from "./chat-messages.ts";
import { type ToolCallForm, getToolCallForm, toTools, toolFields } from "./chat-tools.ts";

const text = z.string();

/** Fields that change how tokens are chosen, which chat completions and completions share. */
const samplingFields = {
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
  logit_bias: memberRecord(z.number()).optional(),
  stop: z.union([text, listField(text)]).optional(),
  stop_token_ids: tokenIds().optional(),
  min_tokens: z.int().nonnegative().optional(),
  ignore_eos: z.boolean().optional(),
  bad_words: listField(text).optional().openapi({ description: "As vLLM: texts that are not generated" }),
  n: z.int().positive().optional(),
};

/** A field that changes nothing here, whatever its value. `type`: of the value, for the OpenAPI document. */
const harmless = (type: "string" | "object" | "boolean"): z.ZodType => z.unknown().optional().openapi({ type });

type HarmlessField =
  | "user"
  | "metadata"
  | "store"
  | "service_tier"
  | "safety_identifier"
  | `prompt_cache_${"key" | "retention"}`
  | "verbosity"
  | "prediction"
  | "modalities";

/** Fields that are accepted and change nothing here. */
export const harmlessFields: Readonly<Record<HarmlessField, z.ZodType>> = {
  user: harmless("string"),
  metadata: harmless("object"),
  store: harmless("boolean").openapi({ description: "Accepted and ignored: nothing is stored" }),
  service_tier: harmless("string"),
  safety_identifier: harmless("string"),
  prompt_cache_key: harmless("string"),
  prompt_cache_retention: harmless("string"),
  verbosity: harmless("string"),
  prediction: z.unknown().optional(),
  modalities: listField(z.literal("text")).optional(),
};

/** Schema of `stream_options`. */
export const streamOptions: z.ZodType<{ readonly include_usage?: boolean | undefined }> = requestObject({
  include_usage: z.boolean().optional(),
  continuous_usage_stats: z.boolean().optional(),
  include_obfuscation: z.boolean().optional(),
});

/** A maximum number of tokens: -1, and -2 as in llama.cpp, mean no limit. */
export const tokenLimit: z.ZodInt = z.int().min(-2);

/** Fields of vLLM about the prompt that the chat template makes. */
const templateFields = {
  add_generation_prompt: z
    .boolean()
    .optional()
    .openapi({ description: "As vLLM: whether the prompt ends where an answer begins. Default: true" }),
  documents: listField(members()).optional().openapi({ description: "As vLLM: the variable of the model's chat template" }),
  continue_final_message: z.boolean().optional().openapi({ description: "As vLLM; only false" }),
  chat_template: text.optional().openapi({ description: "Refused: templates come from the model" }),
};

const chatSchema = requestObject({
  model: modelField,
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
  ...harmlessFields,
}).openapi("ChatCompletionsRequest");

/** A request of chat completions. */
export interface ChatCompletionsCall extends ChatCall {
  /** How calls of tools are written. */
  readonly form: ToolCallForm;
  /** Whether a stream ends with the numbers of tokens. */
  readonly includeUsage: boolean;
}

/** Requests of chat completions. */
export const chatForm: RequestForm<ChatCompletionsCall> = requestForm(chatSchema, (request) => {
  const { max_completion_tokens: limit = request.max_tokens ?? request.n_predict, logprobs = false } = request;
  return {
    model: request.model,
    messages: toMessages(request.messages),
    options: {
      ...toSampling(request, limit),
      ...toConstraint(request),
      ...toTools(request),
      ...toTemplateVariables(request),
      ...(logprobs ? { logprobs: request.top_logprobs ?? 0 } : {}),
    },
    texts: request.n ?? 1,
    isStreamed: request.stream ?? false,
    keepAlive: request.ttl,
    showsTokens: logprobs,
    form: getToolCallForm(request),
    includeUsage: request.stream_options?.include_usage ?? false,
  };
});

/** The variables of the chat template. Throws INPUT_INVALID for a template of the request, and for a message to be continued. */
function toTemplateVariables(request: z.infer<typeof chatSchema>): Pick<ChatRequest, "templateVariables"> {
  const { add_generation_prompt: opens, documents, continue_final_message: continues, chat_template: template } = request;
  if (template !== undefined)
    throw unsupportedField("chat_template", "a template of the request", "leave it out: the model has its own");
  if (continues === true) throw unsupportedField("continue_final_message", "continuing a message", "use /v1/completions");
  const own = omitUndefined({ add_generation_prompt: opens, documents });
  const { templateVariables: thinking } = thinkingVariables(request);
  return thinking === undefined && Object.keys(own).length === 0 ? {} : { templateVariables: { ...own, ...thinking } };
}

type SamplingRequest = { readonly [Field in keyof typeof samplingFields]?: z.infer<(typeof samplingFields)[Field]> };

/** Options of sampling. Several texts are to differ, as they do with OpenAI's temperature of 1. */
function toSampling(request: SamplingRequest, maxNewTokens: number | undefined): GenerationOptions {
  const { temperature, top_k: topK, typical_p: typicalP = request.typ_p, n = 1 } = request;
  const options = readSampling({
    temperature,
    topP: request.top_p,
    topK: topK === -1 ? 0 : topK,
    minP: request.min_p,
    typicalP,
    seed: request.seed,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    repetitionPenalty: request.repetition_penalty ?? request.repeat_penalty,
    logitBias: request.logit_bias,
    stop: request.stop,
    stopTokens: request.stop_token_ids,
    minNewTokens: request.min_tokens,
    ignoreEndTokens: request.ignore_eos,
    badWords: request.bad_words?.filter((each) => each !== ""),
    n,
    maxNewTokens,
  });
  return n > 1 && options.temperature === undefined ? { ...options, doSample: true } : options;
}

/** Tokens of a completion at most if the request does not say, as OpenAI has it. */
const defaultMaxTokens = 16;

const completionsSchema = requestObject({
  model: modelField,
  prompt: z.union([z.string(), listField(z.string(), { min: 1 }), tokenIds(), listField(tokenIds(), { min: 1 })]),
  max_tokens: z.int().min(-1).optional().openapi({
    description:
      "Tokens to generate at most; 0: none, which with `echo` and `logprobs` scores the prompt; -1: up to the context. Default: 16",
  }),
  ...samplingFields,
  ...constraintFields,
  stream: z.boolean().optional(),
  stream_options: streamOptions.optional(),
  logprobs: z.int().min(0).max(20).optional(),
  echo: z.boolean().optional().openapi({ description: "Whether the prompt stands before each text" }),
  suffix: z
    .string()
    .optional()
    .openapi({ description: "Text that follows what is generated, for models with tokens for filling in the middle" }),
  best_of: z.int().positive().optional().openapi({ description: "Only the value of `n`" }),
  add_special_tokens: z.boolean().optional(),
  skip_special_tokens: z.boolean().optional(),
  ttl: ttlField,
  ...harmlessFields,
}).openapi("CompletionsRequest");

/** A request of completions. */
export interface CompletionsCall extends Omit<GenerationCall<unknown, unknown>, "start"> {
  readonly prompts: readonly Prompt[];
  readonly options: Omit<GenerateRequest, "model">;
  /** Number of texts for each prompt. */
  readonly n: number;
  /** Whether texts begin with their prompts. */
  readonly echo: boolean;
  readonly skipsSpecial: boolean;
  /** Whether a stream ends with the numbers of tokens. */
  readonly includeUsage: boolean;
}

/** Requests of completions. */
export const completionsForm: RequestForm<CompletionsCall> = requestForm(completionsSchema, (request) => {
  const { max_tokens: limit = defaultMaxTokens, logprobs, suffix, n = 1, best_of: bestOf = n, echo = false } = request;
  if (bestOf !== n) throw invalidField("best_of", `is ${bestOf}, and only n, ${n}, is possible`);
  const prompts = toPrompts(request.prompt);
  const { add_special_tokens: addSpecialTokens, skip_special_tokens: skipSpecialTokens } = request;
  return {
    model: request.model,
    prompts,
    options: {
      ...toSampling(request, limit === -1 ? Number.MAX_SAFE_INTEGER : limit),
      ...toConstraint(request),
      ...omitUndefined({ logprobs, addSpecialTokens, skipSpecialTokens }),
      ...(logprobs === undefined || !echo ? {} : { promptLogprobs: logprobs }),
      ...(suffix === undefined || suffix === "" ? {} : { suffix }),
    },
    texts: prompts.length * n,
    isStreamed: request.stream ?? false,
    keepAlive: request.ttl,
    showsTokens: true,
    n,
    echo,
    skipsSpecial: skipSpecialTokens ?? true,
    includeUsage: request.stream_options?.include_usage ?? false,
  };
});

/** The prompts as a list: a text, texts, token ids, or lists of these. */
function toPrompts(prompt: Prompt | readonly Prompt[]): readonly Prompt[] {
  if (typeof prompt === "string") return [prompt];
  return prompt.every((each): each is number => typeof each === "number") ? [prompt] : prompt;
}
