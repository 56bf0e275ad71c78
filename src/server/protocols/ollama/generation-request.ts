/** Requests of Ollama's routes that generate text. */
import { z } from "@hono/zod-openapi";
import type { ChatRequest } from "../../../api/task-requests.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { ChatMessage, Tool } from "../../../tasks/generation/chat/messages.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generation-options.ts";
import { conversation, isObject, listOf, members, name, requestObject, tokenIds } from "../../http/field-schemas.ts";
import { invalidField, unsupportedField } from "../generation/request-errors.ts";
import { toSeed } from "../generation/seed.ts";
import { ollamaFields } from "./request-fields.ts";

/** Options that some clients write beside `options`. */
interface OptionsBeside {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly seed?: number;
  readonly stop?: string | readonly string[];
  readonly max_tokens?: number;
  readonly max_output_tokens?: number;
}

const besideField = z.number().optional().openapi({ description: "As the option of this name, which counts before it" });
const limitField = z.number().optional().openapi({ description: "As options.num_predict, which counts before it" });
const optionsBeside: Readonly<Record<keyof OptionsBeside, z.ZodType>> = {
  temperature: besideField,
  top_p: besideField,
  top_k: besideField,
  seed: besideField,
  stop: z
    .union([z.string(), listOf(z.string())])
    .optional()
    .openapi({ description: "As options.stop, which counts before it" }),
  max_tokens: limitField,
  max_output_tokens: limitField,
};

/** Fields that both routes have. */
interface SharedFields extends OptionsBeside {
  readonly model?: string;
  readonly stream?: boolean;
  readonly format?: unknown;
  readonly think?: boolean | string;
  readonly options?: unknown;
  readonly keep_alive?: number | string | null;
  readonly logprobs?: boolean;
  readonly top_logprobs?: number;
}

/** A validated request of /api/chat. */
export interface OllamaChatRequest extends SharedFields {
  readonly messages?: readonly Readonly<Record<string, unknown>>[];
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
}

/** A validated request of /api/generate. */
export interface OllamaGenerateRequest extends SharedFields {
  readonly prompt?: string;
  readonly system?: string;
  readonly suffix?: string;
  readonly template?: string;
  readonly raw?: boolean;
  readonly images?: readonly string[];
  readonly context?: readonly number[];
}

const sharedFields = {
  model: name().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
  stream: z
    .boolean()
    .optional()
    .openapi({ description: "Whether the answer is sent as lines of JSON while it is generated. Default: true" }),
  format: z.unknown().optional().openapi({ description: '"json", or a JSON Schema: what the text must be' }),
  think: z
    .union([z.boolean(), z.string()])
    .optional()
    .openapi({ description: "Whether the model thinks, where its chat template can turn that off" }),
  logprobs: z.boolean().optional().openapi({ description: "Whether each token is given with its log probability" }),
  top_logprobs: z
    .int()
    .min(0)
    .max(20)
    .optional()
    .openapi({ description: "With `logprobs`: number of most probable tokens in the place of each. Default: 0" }),
  ...optionsBeside,
  ...ollamaFields,
};

/** Schema of /api/chat. */
export const chatRequestSchema: z.ZodType<OllamaChatRequest> = requestObject({
  ...sharedFields,
  messages: conversation(members(), 0).optional().openapi({ description: "Default: none, which loads the model only" }),
  tools: listOf(members()).optional(),
}).openapi("OllamaChatRequest") as never;

/** Schema of /api/generate. */
export const generateRequestSchema: z.ZodType<OllamaGenerateRequest> = requestObject({
  ...sharedFields,
  prompt: z.string().optional().openapi({ description: "Default: none, which loads the model only" }),
  system: z.string().optional(),
  raw: z
    .boolean()
    .optional()
    .openapi({ description: "Whether the prompt is given to the model as it is, without its chat template" }),
  suffix: z
    .string()
    .optional()
    .openapi({ description: "Text that follows what is generated, for models with tokens for filling in the middle" }),
  template: z.string().optional().openapi({ description: "Not built: templates of Ollama are no templates of models" }),
  images: listOf(z.string()).optional().openapi({ description: "Not built: models here read text" }),
  context: tokenIds()
    .optional()
    .openapi({ description: "Tokens of a conversation, as the last answer of this route ended with; the prompt continues it" }),
}).openapi("OllamaGenerateRequest") as never;

/** The conversation of a request. */
export function toMessages(messages: readonly Readonly<Record<string, unknown>>[]): readonly ChatMessage[] {
  return messages.map((message, index) => {
    const path = `messages.${index}`;
    const { role: written, content, thinking, tool_calls: calls, tool_name: toolName, images } = message;
    const role = written === "developer" ? "system" : written;
    if (Array.isArray(images) && images.length > 0) throw unsupportedField(`${path}.images`, "reading images", "send text");
    if (role !== "system" && role !== "user" && role !== "assistant" && role !== "tool")
      throw invalidField(`${path}.role`, `is ${JSON.stringify(role)}, and must be system, user, assistant or tool`);
    const toolCalls = Array.isArray(calls)
      ? calls.map((call: unknown, place) => getCall(call, `${path}.tool_calls.${place}`))
      : [];
    return {
      role,
      content: toText(content, `${path}.content`),
      ...(role === "assistant" && typeof thinking === "string" ? { reasoning: thinking } : {}),
      ...(typeof toolName === "string" ? { name: toolName } : {}),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    };
  });
}

/** A text, or a list of parts that are texts, as clients of other protocols write them. */
function toText(content: unknown, path: string): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidField(path, "must be a text");
  const texts = content.map((part: unknown, index) => {
    const text = isObject(part) ? part["text"] : part;
    if (typeof text === "string") return text;
    throw unsupportedField(`${path}.${index}`, "a part that is no text", "send text");
  });
  return texts.join("\n");
}

/** The tools of a request. */
export function toTools(tools: readonly Readonly<Record<string, unknown>>[] = []): Pick<ChatRequest, "tools"> {
  const list = tools.map(({ function: given }, index): Tool => {
    const { name: called, description, parameters } = isObject(given) ? given : {};
    if (typeof called !== "string") throw invalidField(`tools.${index}`, "must be a function with a name");
    return {
      name: called,
      ...(typeof description === "string" ? { description } : {}),
      ...(isObject(parameters) ? { parameters } : {}),
    };
  });
  return list.length === 0 ? {} : { tools: list };
}

/** Variables of the chat template that `think` sets. */
export function toThinking({ think }: SharedFields): Pick<ChatRequest, "templateVariables"> {
  if (think === undefined) return {};
  const effort = typeof think === "string" ? { reasoning_effort: think } : {};
  return { templateVariables: { enable_thinking: think !== false, ...effort } };
}

/** Options of sampling. Throws INPUT_INVALID for mirostat, and for what else changes the text and is not built. */
export function toSampling(request: SharedFields): GenerationOptions {
  const { format, logprobs, top_logprobs: alternatives = 0 } = request;
  const given = toOptions(request);
  if (Number(given["mirostat"] ?? 0) !== 0) throw unsupportedField("options.mirostat", "mirostat", "leave it out");
  const number = (field: string): number | undefined => {
    const value = given[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number") return value;
    throw invalidField(`options.${field}`, "must be a number");
  };
  const limit = number("num_predict") ?? -1;
  const topP = number("top_p");
  const { stop } = given;
  return {
    ...getFormat(format),
    ...(logprobs === true ? { logprobs: alternatives } : {}),
    ...omitUndefined({
      temperature: topP === 0 ? 0 : number("temperature"),
      topP: topP === 0 ? undefined : topP,
      topK: number("top_k"),
      minP: number("min_p"),
      typicalP: number("typical_p"),
      seed: toSeed(number("seed")),
      repetitionPenalty: number("repeat_penalty"),
      presencePenalty: number("presence_penalty"),
      frequencyPenalty: number("frequency_penalty"),
      maxNewTokens: limit > 0 ? limit : undefined,
    }),
    ...getStop(stop),
  };
}

/** The options, including the ones that clients write outside of `options`. */
function toOptions({ options, ...fields }: SharedFields): Readonly<Record<string, unknown>> {
  const { max_tokens: limit, max_output_tokens: outputLimit = limit, ...beside } = fields;
  const written = Object.fromEntries(Object.keys(optionsBeside).map((name) => [name, beside[name as keyof typeof beside]]));
  return { ...omitUndefined({ ...written, num_predict: outputLimit }), ...(isObject(options) ? options : {}) };
}

function getStop(stop: unknown): Pick<GenerationOptions, "stop"> {
  const texts = (typeof stop === "string" ? [stop] : Array.isArray(stop) ? (stop as string[]) : []).filter((text) => text !== "");
  return texts.length === 0 ? {} : { stop: texts };
}

function getFormat(format: unknown): Pick<GenerationOptions, "constraint"> {
  if (format === undefined || format === "") return {};
  if (format === "json") return { constraint: { type: "json", value: "object" } };
  if (isObject(format)) return { constraint: { type: "schema", schema: format } };
  throw invalidField("format", 'must be "json" or a JSON Schema');
}

function getCall(call: unknown, path: string): { readonly id: string; readonly name: string; readonly arguments: string } {
  const { function: given, id } = isObject(call) ? call : {};
  const { name: called, arguments: values = {} } = isObject(given) ? given : {};
  if (typeof called !== "string") throw invalidField(path, "must be a function with a name");
  return {
    id: typeof id === "string" ? id : "",
    name: called,
    arguments: typeof values === "string" ? values : jsonText(values),
  };
}
