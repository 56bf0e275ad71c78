/** Requests of OpenAI's chat completions, with the fields that vLLM and others add. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { ChatRequest } from "../../../api/task-requests.ts";
import type { ChatMessage, Tool } from "../../../tasks/generation/chat/messages.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generation-options.ts";
import {
  conversation,
  isObject,
  isText,
  listOf,
  members,
  membersOf,
  name,
  oneOf,
  requestObject,
  tokenIds,
} from "../../http/field-schemas.ts";
import { type ConstraintRequest, constraintFields, constraintOf, toolChoiceOf } from "../generation/constraint-fields.ts";
import { seedOf } from "../generation/seed.ts";
import { invalidField } from "../generation/request-errors.ts";

const text = z.string();
const part = z.looseObject({ type: z.string(), text: text.optional(), refusal: text.optional() });
const content = oneOf<ContentField>("a text or parts of it", [
  { schema: text, fits: isText },
  { schema: listOf(part) as never, fits: Array.isArray },
]);
const toolCall = z.looseObject({
  id: text.optional(),
  type: z.literal("function").optional(),
  function: z.looseObject({ name: text, arguments: z.union([text, members()]) }),
});
const message = z
  .looseObject({
    role: z.enum(["system", "developer", "user", "assistant", "tool"]),
    content: content.nullable().optional(),
    name: text.optional(),
    tool_calls: listOf(toolCall).nullable().optional(),
    tool_call_id: text.optional(),
    reasoning_content: text.nullable().optional(),
    reasoning: text.nullable().optional(),
  })
  .openapi("ChatMessage");

/** Content of a message: a text, or parts. */
export type ContentField =
  | string
  | readonly { readonly type: string; readonly text?: string | undefined; readonly refusal?: string | undefined }[];

/** A message of a request. */
export interface MessageField {
  readonly role: ChatMessage["role"];
  readonly content?: ContentField | null;
  readonly name?: string;
  readonly tool_calls?:
    | readonly {
        readonly id?: string;
        readonly function: { readonly name: string; readonly arguments: string | Readonly<Record<string, unknown>> };
      }[]
    | null;
  readonly tool_call_id?: string;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
}

/** A tool of a request. */
export interface ToolField {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description?: string | undefined; readonly parameters?: unknown };
}

const toolSchema = z
  .looseObject({
    type: z.literal("function"),
    function: z.looseObject({ name: text, description: text.optional(), parameters: z.unknown().optional() }),
  })
  .openapi("ChatTool");

/** Fields that change how tokens are chosen, which chat completions and completions share. */
export interface SamplingRequest {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly min_p?: number;
  readonly typical_p?: number;
  readonly seed?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly repetition_penalty?: number;
  readonly logit_bias?: Readonly<Record<string, number>>;
  readonly stop?: string | readonly string[];
  readonly stop_token_ids?: readonly number[];
  readonly min_tokens?: number;
  readonly ignore_eos?: boolean;
  readonly n?: number;
}

/** A validated request. */
export interface ChatCompletionsRequest extends SamplingRequest, ConstraintRequest {
  readonly model?: string;
  readonly messages: readonly MessageField[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly logprobs?: boolean;
  readonly top_logprobs?: number;
  readonly tools?: readonly ToolField[];
  readonly tool_choice?: unknown;
  readonly reasoning_effort?: string;
  readonly chat_template_kwargs?: Readonly<Record<string, unknown>>;
}

/** Schemas of the fields of `SamplingRequest`. */
export const samplingFields: Readonly<Record<keyof SamplingRequest, z.ZodType>> = {
  temperature: z.number().min(0).max(100).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(-1).optional().openapi({ description: "As vLLM: draw among this many most probable tokens; 0 and -1: all" }),
  min_p: z.number().min(0).max(1).optional(),
  typical_p: z.number().min(0).max(1).optional(),
  seed: z
    .number()
    .refine(Number.isInteger, "Invalid input: expected an integer")
    .optional()
    .openapi({ type: "integer", description: "-1: none, as without one" }),
  presence_penalty: z.number().optional(),
  frequency_penalty: z.number().optional(),
  repetition_penalty: z.number().optional(),
  logit_bias: membersOf(z.number()).optional(),
  stop: z.union([text, listOf(text)]).optional(),
  stop_token_ids: tokenIds().optional(),
  min_tokens: z.int().nonnegative().optional(),
  ignore_eos: z.boolean().optional(),
  n: z.int().positive().optional(),
};

/** Schemas of the fields `messages` and `tools`. */
export const messagesField: z.ZodType<readonly MessageField[]> = conversation(message) as never;
export const toolsField: z.ZodType<readonly ToolField[]> = listOf(toolSchema) as never;

/** Fields that are accepted and change nothing here. */
export const harmlessFields: Readonly<Record<string, z.ZodType>> = {
  user: text.optional(),
  metadata: members().optional(),
  store: z.boolean().optional().openapi({ description: "Accepted and ignored: nothing is stored" }),
  service_tier: text.optional(),
  safety_identifier: text.optional(),
  prompt_cache_key: text.optional(),
  prompt_cache_retention: text.optional(),
  verbosity: text.optional(),
  prediction: z.unknown().optional(),
  modalities: listOf(z.literal("text")).optional(),
};

/** Schema of `stream_options`. */
export const streamOptions: z.ZodType = z.looseObject({
  include_usage: z.boolean().optional(),
  continuous_usage_stats: z.boolean().optional(),
});

/** Schema of the request. */
export const chatRequestSchema: z.ZodType<ChatCompletionsRequest> = requestObject({
  model: name().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
  messages: messagesField,
  max_tokens: z.int().positive().optional().openapi({ description: "Older name of `max_completion_tokens`" }),
  max_completion_tokens: z
    .int()
    .positive()
    .optional()
    .openapi({ description: "Tokens to generate at most. Default: up to the model's context" }),
  ...samplingFields,
  stream: z.boolean().optional(),
  stream_options: streamOptions.optional(),
  logprobs: z.boolean().optional(),
  top_logprobs: z.int().min(0).max(20).optional(),
  tools: toolsField.optional(),
  tool_choice: z
    .unknown()
    .optional()
    .openapi({ description: '"auto", "none", "required", or a function by its name: what is then called fits its schema' }),
  parallel_tool_calls: z.boolean().optional(),
  ...constraintFields,
  reasoning_effort: text
    .optional()
    .openapi({ description: "Given to the model's chat template as `reasoning_effort`; `none` turns thinking off" }),
  chat_template_kwargs: members().optional().openapi({ description: "As vLLM: further variables of the model's chat template" }),
  ...harmlessFields,
}).openapi("ChatCompletionsRequest") as never;

/** The conversation of a request. Throws INPUT_INVALID for parts that are not text. */
export function messagesOf({ messages }: Pick<ChatCompletionsRequest, "messages">): readonly ChatMessage[] {
  return messages.map((each, index) => {
    const reasoning = each.reasoning_content ?? each.reasoning;
    const calls = each.tool_calls ?? [];
    return {
      role: each.role,
      content: textOfContent(each.content ?? "", `messages.${index}.content`),
      ...(each.name === undefined ? {} : { name: each.name }),
      ...(each.tool_call_id === undefined ? {} : { toolCallId: each.tool_call_id }),
      ...(each.role !== "assistant" || reasoning === undefined || reasoning === null ? {} : { reasoning }),
      ...(calls.length === 0
        ? {}
        : {
            toolCalls: calls.map(({ id = "", function: { name: called, arguments: given } }) => ({
              id,
              name: called,
              arguments: typeof given === "string" ? (given === "" ? "{}" : given) : jsonText(given),
            })),
          }),
    };
  });
}

/** The text of a message's content. Throws INPUT_INVALID for parts that are not text. */
export function textOfContent(given: ContentField, path: string): string {
  if (typeof given === "string") return given;
  const texts = given.map((each, index) => {
    const found = each.text ?? each.refusal;
    if (/^(?:input_|output_)?text$|^refusal$/.test(each.type) && found !== undefined) return found;
    throw invalidField(
      `${path}.${index}`,
      `a part of type ${JSON.stringify(each.type)} is not read: models here read text`,
      "send text",
    );
  });
  return texts.join("\n");
}

/** The tools of a request, and whether the model may or must call them. */
export function toolsOf(given: readonly ToolField[] | undefined, choice: unknown): Pick<ChatRequest, "tools" | "toolChoice"> {
  const tools = (given ?? []).map(({ function: { name: called, description, parameters } }, index): Tool => {
    if (parameters !== undefined && parameters !== null && !isObject(parameters))
      throw invalidField(`tools.${index}.function.parameters`, "must be a JSON Schema");
    return {
      name: called,
      ...(description === undefined ? {} : { description }),
      ...(isObject(parameters) ? { parameters } : {}),
    };
  });
  return { ...(tools.length === 0 ? {} : { tools }), ...toolChoiceOf(choice) };
}

/** Options of sampling, by the names of the library. */
export function samplingOf(request: SamplingRequest): GenerationOptions {
  const {
    temperature,
    top_p,
    top_k,
    min_p,
    typical_p,
    seed,
    presence_penalty,
    frequency_penalty,
    repetition_penalty,
    logit_bias,
  } = request;
  const { stop, stop_token_ids, min_tokens, ignore_eos, n = 1 } = request;
  const fields = {
    temperature,
    topP: top_p === 0 ? undefined : top_p,
    topK: top_k === -1 ? 0 : top_k,
    minP: min_p,
    typicalP: typical_p === 0 ? undefined : typical_p,
    seed: seedOf(seed),
    presencePenalty: presence_penalty,
    frequencyPenalty: frequency_penalty,
    repetitionPenalty: repetition_penalty,
    logitBias: logit_bias,
    stop: typeof stop === "string" ? (stop === "" ? undefined : [stop]) : stop,
    stopTokens: stop_token_ids,
    minNewTokens: min_tokens,
    ignoreEndTokens: ignore_eos,
    n,
  };
  // A share of 0 leaves the most probable token. Several texts are to differ, as they do with OpenAI's temperature of 1.
  const choice = top_p === 0 ? { temperature: 0 } : n > 1 && temperature === undefined ? { doSample: true } : {};
  return { ...(omitUndefined(fields) as GenerationOptions), ...choice };
}

/** The options of `chat` that a request asks for. Throws INPUT_INVALID for what is not built. */
export function chatOptionsOf(request: ChatCompletionsRequest): Omit<ChatRequest, "model"> {
  const { reasoning_effort: effort, chat_template_kwargs: variables } = request;
  const maxNewTokens = request.max_completion_tokens ?? request.max_tokens;
  const thinking = effort === undefined ? {} : { reasoning_effort: effort, enable_thinking: effort !== "none" };
  const logprobs = request.logprobs === true ? { logprobs: request.top_logprobs ?? 0 } : {};
  return {
    ...samplingOf(request),
    ...constraintOf(request),
    ...toolsOf(request.tools, request.tool_choice),
    ...logprobs,
    ...(maxNewTokens === undefined ? {} : { maxNewTokens }),
    ...(effort === undefined && variables === undefined ? {} : { templateVariables: { ...thinking, ...variables } }),
  };
}
